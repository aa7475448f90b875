/**
 * Writes what is generated from the schemas: `schema/*.schema.json`, and the tables between markers in the
 * documentation. With `--check` nothing is written, and a stale file is an error.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { markdownTable } from 'markdown-table'
import { METRICS } from '../src/model/metric.ts'
import { buildScenarioSchema, buildTargetSchema, type JsonSchema } from '../src/plan/json-schema.ts'
import { buildResultsSchema } from '../src/report/results-file.ts'

/** A generated file: its path in the repository, and its content. */
export interface Generated {
  readonly file: string
  readonly content: string
}

const ROOT = path.join(import.meta.dirname, '..')

/** JSON Schemas by the file they are written to; add a line to publish another one. */
const SCHEMAS: Readonly<Record<string, () => object>> = {
  'schema/scenario.schema.json': buildScenarioSchema,
  'schema/target.schema.json': buildTargetSchema,
  'schema/results.schema.json': buildResultsSchema,
}

/** Tables by document and the marker they stand at. */
const TABLES: Readonly<Record<string, Readonly<Record<string, () => string>>>> = {
  'docs/scenarios.md': {
    scenario: () => renderKeys(withoutTarget(buildScenarioSchema())),
    target: () => renderKeys(buildTargetSchema()),
  },
  'docs/measurement.md': { metrics: renderMetrics },
}

/** All generated files as they should be. */
export function generate(): Generated[] {
  const schemas = Object.entries(SCHEMAS).map(([file, build]) => ({
    file,
    content: `${JSON.stringify(build(), null, 2)}\n`,
  }))
  const documents = Object.keys(TABLES).map((file) => ({
    file,
    content: fillMarkers(file, readCurrent(file)),
  }))
  return [...schemas, ...documents]
}

/** The paths of generated files that are not as they should be. */
export function findStale(): string[] {
  return generate()
    .filter(({ file, content }) => readCurrent(file) !== content)
    .map(({ file }) => file)
}

function readCurrent(file: string): string {
  try {
    return readFileSync(path.join(ROOT, file), 'utf8')
  } catch {
    return ''
  }
}

function fillMarkers(file: string, text: string): string {
  return Object.entries(TABLES[file] ?? {}).reduce((filled, [name, render]) => {
    const begin = `<!-- begin generated: ${name} -->`
    const end = `<!-- end generated: ${name} -->`
    const from = filled.indexOf(begin)
    const to = filled.indexOf(end)
    if (from < 0 || to < from) throw new Error(`${file}: needs the markers "${begin}" and "${end}"`)
    return `${filled.slice(0, from + begin.length)}\n${render()}\n${filled.slice(to)}`
  }, text)
}

/** In the scenario's table a target is one line; it has its own table. */
function withoutTarget(schema: JsonSchema): JsonSchema {
  const { target, targets } = schema.properties ?? {}
  const oneLine = (part: JsonSchema | undefined): JsonSchema => ({
    anyOf: [{ type: 'string' }, { type: 'object' }],
    ...(part?.description === undefined ? {} : { description: part.description }),
    ...(part?.examples === undefined ? {} : { examples: part.examples }),
  })
  return {
    ...schema,
    properties: {
      ...schema.properties,
      target: oneLine(target),
      targets: { ...oneLine(targets), anyOf: [{ type: 'array', items: oneLine(undefined) }] },
    },
  }
}

function renderKeys(schema: JsonSchema): string {
  return markdownTable([['key', 'meaning', 'allowed', 'default'], ...renderRows(schema, '')])
}

function renderMetrics(): string {
  const rows = METRICS.map((metric) => [
    `\`${metric.name}\``,
    metric.unit === 'us' ? 'µs' : metric.unit,
    metric.direction,
    metric.role,
    metric.description,
  ])
  return markdownTable([['metric', 'unit', 'better', 'role', 'what it is'], ...rows])
}

function renderRows(schema: JsonSchema, prefix: string): string[][] {
  return Object.entries(schema.properties ?? {}).flatMap(([key, part]) => {
    const name = `${prefix}${key}`
    const cells = [
      `\`${name}\`${schema.required?.includes(key) ? ' (required)' : ''}`,
      `${part.description ?? ''}${part.examples === undefined ? '' : ` E.g. ${renderYaml(part.examples[0])}`}`,
      renderAllowed(part),
      part.default === undefined ? '' : renderYaml(part.default),
    ]
    const row = cells.map((cell) => cell.replaceAll('|', '\\|'))
    const nested = [part, ...(part.anyOf ?? [])].flatMap((branch) => [
      ...renderRows(branch, `${name}.`),
      ...(branch.items === undefined ? [] : renderRows(branch.items, `${name}[].`)),
    ])
    return [row, ...nested]
  })
}

function renderAllowed(part: JsonSchema): string {
  if (part.anyOf !== undefined) return [...new Set(part.anyOf.map(renderAllowed))].join(' or ')
  if (part.const !== undefined) return renderYaml(part.const)
  if (part.enum !== undefined) return part.enum.map(renderYaml).join(', ')
  if (part.type === 'array') return `list of ${renderAllowed(part.items ?? {})}`
  if (part.type === 'object') return 'mapping'
  if (part.type === 'string') return renderText(part.pattern)
  if (part.type === 'integer' || part.type === 'number') {
    if (part.minimum === undefined) return part.type
    return part.maximum === undefined
      ? `${part.type} >= ${part.minimum}`
      : `${part.type} ${part.minimum} to ${part.maximum}`
  }
  return part.type === undefined ? 'any value' : 'text'
}

function renderText(pattern: string | undefined): string {
  if (pattern?.includes('GiB')) return 'size'
  if (pattern?.includes('ms')) return 'time'
  return pattern?.startsWith('^\\/') ? 'path' : 'text'
}

function renderYaml(value: unknown): string {
  return `\`${renderFlow(value)}\``
}

/** A value in YAML's flow style; the texts that stand in the schemas need no quotes. */
function renderFlow(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(renderFlow).join(', ')}]`
  if (typeof value !== 'object' || value === null) return String(value)
  const pairs = Object.entries(value).map(([key, inner]) => `${key}: ${renderFlow(inner)}`)
  return `{ ${pairs.join(', ')} }`
}

if (import.meta.main) {
  const stale = findStale()
  if (!process.argv.includes('--check')) {
    for (const { file, content } of generate()) writeFileSync(path.join(ROOT, file), content)
    console.log(stale.length === 0 ? 'all fresh' : `written: ${stale.join(', ')}`)
  } else if (stale.length > 0) {
    console.error(`stale: ${stale.join(', ')}; run: node script/schemas.ts`)
    process.exitCode = 1
  }
}
