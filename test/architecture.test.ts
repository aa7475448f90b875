import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '..')

/** What the modules of a folder of src/ may import besides each other and Node; exceptions are in `FILES`. */
const FOLDERS: Readonly<Record<string, readonly string[]>> = {
  model: [],
  lib: ['model'],
  stats: ['model'],
  docker: ['model', 'lib'],
  plan: ['model', 'lib'],
  engine: ['model', 'lib'],
  bench: ['engine', 'docker', 'stats', 'model', 'lib'],
  report: ['stats', 'model', 'lib'],
  sink: ['report', 'model', 'lib'],
  command: ['sink', 'report', 'bench', 'engine', 'docker', 'plan', 'stats', 'model', 'lib'],
}

/** Single modules that a folder may import; `types` only as types. */
const FILES: Readonly<Record<string, readonly { readonly path: string; readonly types?: true }[]>> = {
  engine: [{ path: 'src/stats/histogram.ts' }],
  sink: [{ path: 'src/bench/progress.ts', types: true }],
}

/** Where programs begin: others may know no more of them than types. */
const ENTRIES = ['src/cli.ts', 'src/engine/autocannon-worker.ts']

/** The only modules that may import a package. */
const OWNERS: Readonly<Record<string, RegExp>> = {
  autocannon: /^src\/engine\/autocannon[^/]*\.ts$/,
  commander: /^src\/cli\.ts$/,
  dockerode: /^src\/docker\//,
  execa: /^src\/(lib\/exec|engine\/process)\.ts$/,
  'fastest-levenshtein': /^src\/lib\/nearest\.ts$/,
  'hdr-histogram-js': /^src\/stats\/histogram\.ts$/,
  'log-update': /^src\/sink\/terminal\.ts$/,
  'markdown-table': /^src\/report\/markdown\.ts$/,
  yaml: /^src\/plan\/document\.ts$/,
  zod: /^src\/(plan\/|report\/results-file\.ts$)/,
}

interface Import {
  /** Path below the repository. */
  readonly from: string
  /** The same for what is imported, or a package's name, or `node:…`. */
  readonly to: string
  readonly typesOnly: boolean
}

/** Static imports and re-exports, dynamic ones, and imports for their effect. */
function findImports(path: string, source: string): readonly Import[] {
  const statements = [
    ...source.matchAll(/^\s*(?:import|export)\s+(type\s)?[^'"`;]*?\sfrom\s*['"]([^'"]+)['"]/gm),
    ...source.matchAll(/^\s*import\s*()['"]([^'"]+)['"]/gm),
    ...source.matchAll(/\b(?:import|require)\s*\(()\s*['"`]([^'"`]+)['"`]/g),
  ]
  return statements.map(([, type, specifier = '']) => ({
    from: path,
    to: specifier.startsWith('.') ? join(dirname(path), specifier) : packageOf(specifier),
    typesOnly: type !== undefined && type !== '',
  }))
}

function packageOf(specifier: string): string {
  if (specifier.startsWith('node:')) return specifier
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')
}

/** Why an import is not allowed; undefined when it is. */
function findFault({ from, to, typesOnly }: Import): string | undefined {
  const isAllowed = to.startsWith('src/')
    ? mayImportModule(from, to, typesOnly)
    : to === 'package.json'
      ? from === 'src/lib/version.ts'
      : to.startsWith('node:')
        ? folderOf(from) !== 'model'
        : OWNERS[to]?.test(from) === true
  return isAllowed ? undefined : `${from} imports ${to}`
}

function mayImportModule(from: string, to: string, typesOnly: boolean): boolean {
  if (ENTRIES.includes(to)) return typesOnly && folderOf(from) === folderOf(to)
  const folder = folderOf(from)
  // An entry in no folder puts commands together, and reads their options.
  if (folder === undefined) return true
  const target = folderOf(to)
  if (target === undefined) return false
  if (target === folder || FOLDERS[folder]?.includes(target) === true) return true
  return FILES[folder]?.some(({ path, types }) => path === to && (types !== true || typesOnly)) === true
}

/** `plan` of `src/plan/load.ts`; undefined directly below src/. */
function folderOf(path: string): string | undefined {
  return /^src\/([^/]+)\//.exec(path)?.[1]
}

const MODULES = globSync('src/**/*.ts', { cwd: ROOT }).map((path) => ({
  path,
  imports: findImports(path, readFileSync(join(ROOT, path), 'utf8')),
}))
const IMPORTS = MODULES.flatMap(({ imports }) => imports)

test('modules import what the architecture allows', () => {
  expect(IMPORTS.map(findFault).filter((fault) => fault !== undefined)).toEqual([])
})

test('every folder has its line', () => {
  const folders = MODULES.map(({ path }) => folderOf(path)).filter((folder) => folder !== undefined)
  expect([...new Set(folders)].sort()).toEqual(Object.keys(FOLDERS).sort())
})

test('every package has an owner that uses it', () => {
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  expect(Object.keys(dependencies).sort()).toEqual(Object.keys(OWNERS).sort())
  const unused = Object.keys(OWNERS).filter((name) => IMPORTS.every(({ to }) => to !== name))
  expect(unused).toEqual([])
})

test('folders do not import each other in a circle', () => {
  const reach = (folder: string, seen: readonly string[]): void => {
    expect(seen, 'a circle').not.toContain(folder)
    for (const next of FOLDERS[folder] ?? []) reach(next, [...seen, folder])
  }
  for (const folder of Object.keys(FOLDERS)) reach(folder, [])
})

describe('refuses', () => {
  test.each([
    { path: 'src/model/plan.ts', source: "import { join } from 'node:path'" },
    { path: 'src/model/plan.ts', source: "import type { Faults } from '../plan/faults.ts'" },
    { path: 'src/lib/exec.ts', source: "import { load } from '../plan/load.ts'" },
    { path: 'src/stats/quantile.ts', source: "import { build } from 'hdr-histogram-js'" },
    { path: 'src/stats/summary.ts', source: "import { exec } from '../lib/exec.ts'" },
    { path: 'src/docker/image.ts', source: "import { execa } from 'execa'" },
    { path: 'src/engine/recorder.ts', source: "import { median } from '../stats/quantile.ts'" },
    { path: 'src/engine/process.ts', source: "import autocannon from 'autocannon'" },
    { path: 'src/plan/load.ts', source: "export { parse } from 'yaml'" },
    { path: 'src/bench/case.ts', source: "import {\n  loadPlan,\n  type X,\n} from '../plan/load.ts'" },
    { path: 'src/bench/case.ts', source: "import { loadPlan } from '../../bench/startup.ts'" },
    { path: 'src/report/build.ts', source: "const { run } = await import('../bench/runner.ts')" },
    { path: 'src/report/build.ts', source: "import '../sink/files.ts'" },
    // As a value; its types are allowed.
    { path: 'src/sink/files.ts', source: "import { show } from '../bench/progress.ts'" },
    { path: 'src/sink/files.ts', source: "import type { Lab } from '../bench/case.ts'" },
    { path: 'src/command/run.ts', source: "import { main } from '../cli.ts'" },
    { path: 'src/command/run.ts', source: "import type { Worker } from '../engine/autocannon-worker.ts'" },
    { path: 'src/engine/autocannon.ts', source: "import { say } from './autocannon-worker.ts'" },
    { path: 'src/command/run.ts', source: "import chalk from 'chalk'" },
    { path: 'src/command/run.ts', source: "import { readFile } from 'fs'" },
    { path: 'src/command/run.ts', source: "import manifest from '../../package.json' with { type: 'json' }" },
  ])('$path: $source', ({ path, source }) => {
    const found = findImports(path, source)
    expect(found.map(findFault)).toEqual([expect.stringContaining(`${path} imports `)])
  })
})
