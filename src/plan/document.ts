import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  visit,
} from 'yaml'
import type { Fault, Path } from './faults.ts'

/** Largest file that is read, in bytes; hand-written YAML is far smaller. */
export const MAX_FILE_BYTES = 1_000_000

// Also what yaml allows aliases to multiply to; hand-written files stay far below.
const MAX_ALIASES = 100

/** A YAML file as plain data, which remembers where each value stood. */
export interface YamlDocument {
  /** File relative to the working directory. */
  readonly file: string
  readonly value: unknown
  /** Line (from 1) of the value at a path, or of the nearest thing around it that exists. */
  readonly lineOf: (path: Path) => number
  /** The scalar at a path as it was written, so that `1.10` stays `1.10`; absent when there is none. */
  readonly textOf: (path: Path) => string | undefined
}

/** Reads one YAML 1.2 document (core schema, no tags of its own); the faults are those of the syntax. */
export function parseYaml(
  file: string,
  text: string,
): { readonly document: YamlDocument } | { readonly faults: readonly Fault[] } {
  const lines = new LineCounter()
  const source = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    schema: 'core',
    version: '1.2',
    merge: false,
    uniqueKeys: true,
    logLevel: 'error',
  })
  const faultAt = (offset: number, message: string): Fault => ({
    place: file,
    line: lines.linePos(offset).line,
    message,
  })
  const problems = source.errors.map((problem) => {
    const [start] = problem.pos
    if (problem.code === 'MULTIPLE_DOCS') return faultAt(start, 'a second document; a file holds one')
    if (problem.code !== 'DUPLICATE_KEY') return faultAt(start, problem.message)
    const key = /^[\w.-]+/.exec(text.slice(start))?.[0] ?? ''
    return faultAt(start, `key ${key} stands twice in one mapping`.replace('  ', ' '))
  })
  // A %YAML directive could choose an older version, in which `yes` is a boolean.
  if (source.directives?.yaml.explicit) problems.push(faultAt(0, 'a %YAML directive is not allowed'))
  if (source.errors.length === 0) problems.push(...checkNodes(source, faultAt))
  if (problems.length > 0) return { faults: problems }

  let value: unknown
  try {
    value = source.toJS({ maxAliasCount: MAX_ALIASES })
  } catch (error) {
    // The only error that is left is the alias count's.
    if (!(error instanceof ReferenceError)) throw error
    return { faults: [{ place: file, message: `aliases expand too much: ${error.message}` }] }
  }
  return {
    document: {
      file,
      value,
      lineOf: (path) => lines.linePos(findOffset(source, path)).line,
      textOf: (path) => {
        const node = findNode(source, path)
        return isScalar(node) ? (node.source ?? String(node.value)) : undefined
      },
    },
  }
}

/** Finds what the parser lets through: tags, keys that are no scalars, aliases of nothing or of what they stand in. */
function checkNodes(source: Document.Parsed, faultAt: (offset: number, message: string) => Fault): Fault[] {
  const faults: Fault[] = []
  let aliases = 0
  const offsetOf = (node: unknown): number => (isNode(node) ? node.range?.[0] : undefined) ?? 0
  visit(source, {
    Pair: (_key, pair) => {
      if (!isScalar(pair.key)) faults.push(faultAt(offsetOf(pair.key), 'a key must be a plain word'))
      // The schema library leaves it out without a word.
      else if (pair.key.value === '__proto__') {
        faults.push(faultAt(offsetOf(pair.key), 'key __proto__ is not allowed'))
      }
    },
    Value: (_key, node) => {
      if (node.tag !== undefined) faults.push(faultAt(offsetOf(node), `tag ${node.tag} is not allowed`))
    },
    Alias: (_key, alias, ancestors) => {
      // Resolving one walks the whole document.
      aliases += 1
      if (aliases > MAX_ALIASES) {
        faults.push(faultAt(offsetOf(alias), `a file holds at most ${MAX_ALIASES} aliases`))
        return visit.BREAK
      }
      const target = alias.resolve(source)
      if (target === undefined) faults.push(faultAt(offsetOf(alias), `alias *${alias.source} has no anchor`))
      if (target !== undefined && ancestors.some((ancestor) => ancestor === target)) {
        faults.push(faultAt(offsetOf(alias), `alias *${alias.source} stands inside what it repeats`))
      }
      return undefined
    },
  })
  return faults
}

function findNode(source: Document.Parsed, path: Path): Node | undefined {
  let node: unknown = source.contents
  for (const step of path) {
    if (isAlias(node)) node = node.resolve(source)
    node = isCollection(node) ? childOf(node, step)?.value : undefined
  }
  return isNode(node) ? node : undefined
}

function findOffset(source: Document.Parsed, path: Path): number {
  let offset = 0
  let node: unknown = source.contents
  for (const step of path) {
    if (isAlias(node)) node = node.resolve(source)
    const child = isCollection(node) ? childOf(node, step) : undefined
    if (child === undefined) break
    node = child.value
    // A mapping begins at its first key, one line below the key that a reader looks for.
    const place = isScalar(node) && node.source !== '' ? node : (child.key ?? node)
    offset = (isNode(place) ? place.range?.[0] : undefined) ?? offset
  }
  return offset
}

function childOf(
  collection: unknown,
  step: PropertyKey,
): { readonly key?: unknown; readonly value: unknown } | undefined {
  if (isSeq(collection)) {
    return typeof step === 'number' && step < collection.items.length
      ? { value: collection.items[step] }
      : undefined
  }
  if (!isMap(collection)) return undefined
  return collection.items.find(
    (pair) => isPair(pair) && isScalar(pair.key) && String(pair.key.value ?? '') === String(step),
  )
}
