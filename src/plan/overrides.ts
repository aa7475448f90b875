import type { EngineName } from '../model/plan.ts'
import type { Fault } from './faults.ts'
import { renderValue } from './faults.ts'
import {
  coldStartsSchema,
  connectionsSchema,
  cpusSchema,
  durationSchema,
  engineSchema,
  type Issue,
  memorySchema,
  requestCountSchema,
  runsSchema,
  type UNLIMITED,
  validateValue,
  warmupSchema,
} from './schema.ts'

/** Options that replace values of every scenario, raw as the user gave them; lists are separated by commas. */
export interface Overrides {
  readonly cpus?: string | undefined
  readonly memory?: string | undefined
  readonly connections?: string | undefined
  readonly duration?: string | undefined
  readonly requests?: string | undefined
  readonly warmup?: string | undefined
  readonly runs?: string | undefined
  readonly coldStarts?: string | undefined
  readonly engine?: string | undefined
  readonly seed?: string | undefined
}

/** The options' values; absent where the option is not given or is at fault. */
export interface OverrideValues {
  readonly cpus?: readonly (number | typeof UNLIMITED)[]
  /** In bytes. */
  readonly memory?: readonly (number | typeof UNLIMITED)[]
  readonly connections?: readonly number[]
  readonly durationMs?: number
  readonly requests?: number
  readonly warmupMs?: number
  readonly runs?: number
  readonly coldStarts?: number
  readonly engines?: readonly EngineName[]
  readonly seed?: number
}

/** The name of an option on the command line: `coldStarts` is `--cold-starts`. */
export function nameOption(key: keyof Overrides): string {
  return `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}

/** Reads the options by the same rules as the files; each fault names its option, as `nameOf` calls it. */
export function parseOverrides(
  overrides: Overrides,
  nameOf: (key: keyof Overrides) => string = nameOption,
): { readonly values: OverrideValues; readonly faults: readonly Fault[] } {
  const faults: Fault[] = []

  function read<T>(
    key: keyof Overrides,
    parse: (text: string) => { readonly value?: T; readonly issues: readonly Issue[] },
  ): T | undefined {
    const text = overrides[key]
    if (text === undefined) return undefined
    const { value, issues } = parse(text)
    faults.push(...issues.map((issue) => ({ place: nameOf(key), message: issue.describe('') })))
    return value
  }

  const values = {
    cpus: read('cpus', (text) => validateValue(cpusSchema, readList(text))),
    memory: read('memory', (text) => validateValue(memorySchema, readList(text))),
    connections: read('connections', (text) => validateValue(connectionsSchema, readList(text))),
    durationMs: read('duration', (text) => validateValue(durationSchema, readScalar(text))),
    requests: read('requests', (text) => validateValue(requestCountSchema, readScalar(text))),
    warmupMs: read('warmup', (text) => validateValue(warmupSchema, readScalar(text))),
    runs: read('runs', (text) => validateValue(runsSchema, readScalar(text))),
    coldStarts: read('coldStarts', (text) => validateValue(coldStartsSchema, readScalar(text))),
    engines: read('engine', (text) => validateValue(engineSchema, readList(text))),
    seed: read('seed', readSeed),
  }
  if (overrides.duration !== undefined && overrides.requests !== undefined) {
    faults.push({ place: nameOf('requests'), message: `excludes ${nameOf('duration')}; give one` })
  }
  return {
    values: Object.fromEntries(
      Object.entries(values)
        .filter(([, value]) => value !== undefined)
        .map(([key, value]) => [key, LISTS.has(key) && !Array.isArray(value) ? [value] : value]),
    ),
    faults,
  }
}

const LISTS = new Set(['cpus', 'memory', 'connections', 'engines'])

function readList(text: string): readonly (number | string)[] {
  return text.split(',').map(readScalar)
}

function readScalar(text: string): number | string {
  const word = text.trim()
  return /^-?\d+(\.\d+)?$/.test(word) ? Number(word) : word
}

function readSeed(text: string): { readonly value?: number; readonly issues: readonly Issue[] } {
  const seed = /^\d{1,10}$/.test(text.trim()) ? Number(text) : Number.NaN
  return seed < 2 ** 32
    ? { value: seed, issues: [] }
    : {
        issues: [
          { path: [], describe: () => `must be an integer from 0 to 4294967295, not ${renderValue(text)}` },
        ],
      }
}
