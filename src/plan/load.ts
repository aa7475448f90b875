import { readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { UserError } from '../lib/error.ts'
import type { Case, Plan } from '../model/plan.ts'
import type { Target } from '../model/target.ts'
import { MAX_FILE_BYTES, parseYaml, type YamlDocument } from './document.ts'
import { expandSweep, type Sweep } from './expand.ts'
import { buildError, type Fault, type Path, renderPath, renderValue } from './faults.ts'
import { type Overrides, type OverrideValues, parseOverrides } from './overrides.ts'
import { type Disk, report, resolveScenario, resolveTarget, type Site } from './resolve.ts'
import { type Issue, scenarioSchema, targetSchema, validate, validateValue } from './schema.ts'

/** What a plan depends on besides its files. */
export interface Surroundings {
  /** Cores of the machine that measures, the most that `cpus` may be; absent when it is another machine. */
  readonly cores?: number
  /** Absolute folder that files are relative to, here and in messages. */
  readonly cwd: string
  /** Seed (32-bit unsigned) unless an override gives one. */
  readonly seed: number
  /** What the user calls an override, for messages. @default the option on the command line, `--cold-starts` */
  readonly nameOverride?: (key: keyof Overrides) => string
}

// Bodies are sent again and again, and held in memory for each request.
const MAX_BODY_BYTES = 16_000_000

const TARGET_FILE = 'target.yml'

/**
 * Reads scenario files, and the targets they name, into a plan.
 * @throws {UserError} that lists every fault of all files and overrides, a line each.
 */
export function loadPlan(files: readonly string[], overrides: Overrides, surroundings: Surroundings): Plan {
  const loader = new Loader(overrides, surroundings)
  const unique = new Map(files.map((file) => [path.resolve(surroundings.cwd, file), file]))
  if (unique.size === 0)
    throw new UserError('no scenario files; name at least one, such as scenarios/hello.yml')
  for (const [absolute, file] of unique) loader.addScenario(absolute, file)
  return loader.finish()
}

/** What a scenario's name is, and where it stands. */
interface Named {
  readonly name: string
  readonly site: Site
}

/** Collects scenarios, targets and faults over the files of one plan. */
class Loader {
  readonly #faults: Fault[] = []
  readonly #sweeps: Sweep[] = []
  readonly #scenarios: Named[] = []
  readonly #targets: { readonly target: Target; readonly site: Site }[] = []
  /** Targets by absolute file; `undefined` for one with faults. */
  readonly #folders = new Map<string, Target | undefined>()
  readonly #overrides: OverrideValues
  readonly #surroundings: Surroundings

  constructor(overrides: Overrides, surroundings: Surroundings) {
    const { values, faults } = parseOverrides(overrides, surroundings.nameOverride)
    this.#overrides = values
    this.#surroundings = surroundings
    this.#faults.push(...faults)
  }

  addScenario(absolute: string, file: string): void {
    const site = this.#open(absolute, this.#relative(absolute))
    if (site === undefined) return
    const { value } = site.document
    const { parts, issues } = validate(scenarioSchema, value)
    this.#addIssues(site, issues)

    const name = parts.name ?? path.basename(file).replace(/\.ya?ml$/, '')
    this.#checkName(name, site, 'scenario', parts.name !== undefined)
    const twin = this.#scenarios.find((other) => other.name === name)
    if (twin !== undefined) {
      this.#addNote(site, ['name'], this.#twinMessage('scenario', name, twin.site))
    }
    this.#scenarios.push({ name, site })

    const targets = this.#addTargets(value, site, name)
    this.#sweeps.push(
      resolveScenario(parts, site, {
        name,
        file,
        targets,
        overrides: this.#overrides,
        cores: this.#surroundings.cores,
        ...(this.#surroundings.nameOverride === undefined ? {} : { nameOf: this.#surroundings.nameOverride }),
      }),
    )
  }

  finish(): Plan {
    const cases = this.#faults.length === 0 ? this.#sweeps.flatMap(expandSweep) : []
    const [firstTarget, ...targets] = this.#targets.map(({ target }) => target)
    const [firstCase, ...others]: Case[] = cases
    if (this.#faults.length > 0 || firstTarget === undefined || firstCase === undefined) {
      throw buildError(this.#faults)
    }
    return {
      seed: this.#overrides.seed ?? this.#surroundings.seed,
      targets: [firstTarget, ...targets],
      cases: [firstCase, ...others],
    }
  }

  /** The targets of a scenario's raw value, so that their faults show even when the scenario has some. */
  #addTargets(value: unknown, site: Site, scenario: string): Target[] {
    if (typeof value !== 'object' || value === null) return []
    const { target, targets } = value as { readonly target?: unknown; readonly targets?: unknown }
    const entries: { readonly entry: unknown; readonly at: Path }[] =
      target !== undefined
        ? [{ entry: target, at: ['target'] }]
        : (Array.isArray(targets) ? targets : []).map((entry, index) => ({ entry, at: ['targets', index] }))
    const used: Target[] = []
    for (const { entry, at } of entries) {
      const found =
        typeof entry === 'string' && entry !== ''
          ? this.#addFolder(entry, { ...site, at })
          : this.#addInline(entry, { ...site, at }, target === undefined ? undefined : scenario)
      if (found === undefined) continue
      if (used.includes(found)) report(site, at, `names target ${found.name} a second time`)
      used.push(found)
    }
    return used
  }

  #addInline(entry: unknown, site: Site, defaultName: string | undefined): Target | undefined {
    if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) return undefined
    const { parts } = validate(targetSchema, entry)
    if (parts.name === undefined && defaultName === undefined && !Object.hasOwn(entry, 'name')) {
      report(site, ['name'], 'is required for a target inside a list of several')
    }
    const target = resolveTarget(parts, site, defaultName)
    if (target !== undefined) this.#register(target, site)
    return target
  }

  #addFolder(entry: string, site: Site): Target | undefined {
    const folder = path.resolve(site.folder, entry)
    const file = path.join(folder, TARGET_FILE)
    if (this.#folders.has(file)) return this.#folders.get(file)
    this.#folders.set(file, undefined)
    if (kindOf(file) !== 'file') {
      // Not remembered: each scenario that names it has its own line to show.
      this.#folders.delete(file)
      const reason =
        kindOf(folder) === 'folder'
          ? `which has no ${TARGET_FILE}`
          : kindOf(folder) === 'file'
            ? 'which is a file'
            : 'which does not exist'
      report(site, [], `must be a folder that holds ${TARGET_FILE}, not ${renderValue(entry)}, ${reason}`)
      return undefined
    }
    const own = this.#open(file, this.#relative(file))
    if (own === undefined) return undefined
    const { parts, issues } = validate(targetSchema, own.document.value)
    this.#addIssues(own, issues)
    const name = parts.name ?? path.basename(folder)
    this.#checkName(name, own, 'target', parts.name !== undefined)
    const target = resolveTarget(parts, own, name)
    if (target !== undefined) this.#register(target, own)
    this.#folders.set(file, target)
    return target
  }

  #register(target: Target, site: Site): void {
    const twin = this.#targets.find((other) => other.target.name === target.name)
    if (twin !== undefined) this.#addNote(site, [], this.#twinMessage('target', target.name, twin.site))
    this.#targets.push({ target, site })
  }

  #twinMessage(what: string, name: string, twin: Site): string {
    const { file, lineOf } = twin.document
    return `${what} name ${name} is taken by ${file}:${lineOf(twin.at)}; set another with name:`
  }

  /** Faults a name that comes from a file or folder; the schema checks one that is written. */
  #checkName(name: string, site: Site, what: string, written: boolean): void {
    if (written || validateValue(targetSchema.shape.name, name).issues.length === 0) return
    const { value } = site.document
    if (typeof value === 'object' && value !== null && Object.hasOwn(value, 'name')) return
    this.#addNote(
      site,
      [],
      `${what} name ${renderValue(name)} must be of a-z, 0-9, ".", "_" and "-" and start with a letter or digit; rename it, or set name:`,
    )
  }

  /** A fault that has a line, and says itself what it is about. */
  #addNote({ document, at }: Site, below: Path, message: string): void {
    this.#faults.push({ place: document.file, line: document.lineOf([...at, ...below]), message })
  }

  #addIssues(site: Site, issues: readonly Issue[]): void {
    for (const issue of issues) {
      this.#faults.push({
        place: site.document.file,
        line: site.document.lineOf(issue.path),
        message: issue.describe(renderPath(issue.path)),
      })
    }
  }

  #open(absolute: string, shown: string): Site | undefined {
    const found = readText(absolute, MAX_FILE_BYTES)
    if ('reason' in found) {
      this.#faults.push({ place: shown, message: found.reason })
      return undefined
    }
    const parsed = parseYaml(shown, found.text)
    if ('faults' in parsed) {
      this.#faults.push(...parsed.faults)
      return undefined
    }
    const document: YamlDocument = parsed.document
    return { document, folder: path.dirname(absolute), at: [], disk: DISK, faults: this.#faults }
  }

  #relative(absolute: string): string {
    return path.relative(this.#surroundings.cwd, absolute).replaceAll(path.sep, '/')
  }
}

const DISK: Disk = { kindOf, read: (file) => readText(file, MAX_BODY_BYTES) }

// What a path in a file can be that no file has: too long, in a loop, behind a file or a closed folder, with a zero byte.
const UNREACHABLE: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'does not exist',
  ENAMETOOLONG: 'has too long a name',
  ELOOP: 'is a link to itself',
  EACCES: 'may not be read',
  EPERM: 'may not be read',
  ERR_INVALID_ARG_VALUE: 'has a zero byte in its name',
  ERR_ENCODING_INVALID_ENCODED_DATA: 'is not UTF-8 text',
}

/** Why a file cannot be had, for the reasons that are the user's; rethrows all others. */
function reasonOf(error: unknown): string {
  const reason = error instanceof Error && 'code' in error ? UNREACHABLE[String(error.code)] : undefined
  if (reason === undefined) throw error
  return reason
}

function kindOf(file: string): 'file' | 'folder' | undefined {
  try {
    const stat = statSync(file)
    return stat.isFile() ? 'file' : stat.isDirectory() ? 'folder' : undefined
  } catch (error) {
    reasonOf(error)
    return undefined
  }
}

function readText(file: string, maxBytes: number): { readonly text: string } | { readonly reason: string } {
  try {
    const stat = statSync(file)
    if (stat.isDirectory()) return { reason: 'is a folder, not a file' }
    if (!stat.isFile()) return { reason: 'is not a regular file' }
    if (stat.size > maxBytes) return { reason: `is larger than ${maxBytes / 1e6} MB` }
    // A body is sent as it is, with its byte order mark.
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
    return { text: decoder.decode(readFileSync(file)) }
  } catch (error) {
    return { reason: reasonOf(error) }
  }
}
