/**
 * Wall time of a sweep with cached images over the time in which there was load, with cold starts and without, and
 * where the rest goes: node bench/overhead.ts [--rounds 1] [--cpus 0.1,0.5] [--runs 3] [--json].
 * Measures dist/, so run `npm run build` first.
 */
import { spawn } from 'node:child_process'
import { mkdtempDisposableSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { SETTLE_MS } from '../src/bench/run.ts'
import type { Results } from '../src/model/results.ts'
import { parseResults } from '../src/report/results-file.ts'
import { median } from '../src/stats/quantile.ts'

/** Where the time of one sweep went, in milliseconds. */
interface Sweep {
  readonly wallMs: number
  /** Warm-ups, settling and measuring windows. */
  readonly loadMs: number
  /** Time without load by what it was spent on. */
  readonly restMs: Readonly<Record<string, number>>
  /** Time that was waited because others used the machine, beyond the shortest look whether they do. */
  readonly disturbedMs: number
}

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '1' },
    cpus: { type: 'string', default: '0.05,0.1,0.25,0.5,1' },
    runs: { type: 'string', default: '3' },
    'cold-starts': { type: 'string', default: '5' },
    json: { type: 'boolean', default: false },
  },
})
using folder = mkdtempDisposableSync(join(tmpdir(), 'bench-overhead-'))

const variants = [
  { name: `${options['cold-starts']} cold starts`, coldStarts: options['cold-starts'] },
  { name: 'no cold starts', coldStarts: '0' },
] as const
const sweeps = new Map<string, Sweep[]>(variants.map(({ name }) => [name, []]))
for (let round = 0; round < Number(options.rounds); round += 1) {
  for (const { name, coldStarts } of round % 2 === 0 ? variants : variants.toReversed()) {
    sweeps.get(name)?.push(await measureSweep(coldStarts))
  }
}

const figures = [...sweeps].map(([name, taken]) => ({
  name,
  sweeps: taken.length,
  ratio: taken.map(({ wallMs, loadMs }) => wallMs / loadMs),
  undisturbedRatio: taken.map(({ wallMs, disturbedMs, loadMs }) => (wallMs - disturbedMs) / loadMs),
  wallMs: taken.map(({ wallMs }) => wallMs),
  loadMs: taken.map(({ loadMs }) => loadMs),
  restMs: Object.fromEntries(
    [...new Set(taken.flatMap(({ restMs }) => Object.keys(restMs)))].map((part) => [
      part,
      median(taken.map(({ restMs }) => restMs[part] ?? 0)),
    ]),
  ),
}))
if (options.json) console.log(JSON.stringify(figures))
else {
  for (const { name, ratio, undisturbedRatio, wallMs, loadMs, restMs, sweeps: count } of figures) {
    console.log(
      `${name}: wall / load ${format(ratio, 3)}, less the waits for others ${format(undisturbedRatio, 3)}, ${seconds(median(wallMs))} / ${seconds(median(loadMs))}, n = ${count}`,
    )
    for (const [part, ms] of Object.entries(restMs)) console.log(`  ${part.padEnd(18)}${seconds(ms)}`)
  }
}

async function measureSweep(coldStarts: string): Promise<Sweep> {
  const startedAt = performance.now()
  const child = spawn(
    process.execPath,
    [
      'dist/cli.cjs',
      'run',
      'scenarios/static-files.yml',
      ...['--cpus', options.cpus],
      ...['--runs', options.runs],
      ...['--cold-starts', coldStarts],
      ...['--out', folder.path],
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  )
  const marks: { readonly part: string; readonly atMs: number }[] = [{ part: 'start-up', atMs: 0 }]
  createInterface({ input: child.stderr }).on('line', (line) => {
    const part = partOf(line)
    if (part !== undefined) marks.push({ part, atMs: performance.now() - startedAt })
    if (!options.json) console.error(line)
  })
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  if (exitCode !== 0) throw new Error(`the sweep ended with exit code ${exitCode}`)
  const wallMs = performance.now() - startedAt
  const results = parseResults(readFileSync(join(folder.path, 'results.json'), 'utf8'), 'results.json')
  return { wallMs, ...split(marks, wallMs, results) }
}

/** What begins with a line of the log; undefined for a line that begins nothing. */
function partOf(line: string): string | undefined {
  if (line.startsWith('Image of')) return 'image'
  if (line.startsWith('Case ')) return 'between cases'
  const [, step] = /^ {2}(cold start|start|prepare|warm-up|run)\b(?! was)/.exec(line) ?? []
  if (step === 'start') return 'start and ready'
  if (step === 'prepare') return 'prepare, verify'
  return step
}

function split(
  marks: readonly { readonly part: string; readonly atMs: number }[],
  wallMs: number,
  results: Results,
): Omit<Sweep, 'wallMs'> {
  const spent: Record<string, number> = {}
  for (const [index, { part, atMs }] of marks.entries()) {
    spent[part] = (spent[part] ?? 0) + (marks[index + 1]?.atMs ?? wallMs) - atMs
  }
  const runs = results.cases.flatMap((result) => result.runs)
  const warmupMs = results.plan.cases.reduce((sum, { load }) => sum + load.warmupMs, 0)
  const runMs = runs.reduce((sum, { load }) => sum + SETTLE_MS + load.windowUs / 1000, 0)
  const idleMs = runs.reduce((sum, { host }) => sum + host.idleWaitMs, 0)
  const shortestMs = Math.min(...runs.map(({ host }) => host.idleWaitMs))
  const { run = 0, 'warm-up': warmUp = 0, ...rest } = spent
  return {
    loadMs: warmupMs + runMs,
    disturbedMs: idleMs - runs.length * shortestMs,
    restMs: {
      ...rest,
      'warm-up beyond': warmUp - warmupMs,
      'awaiting idle': idleMs,
      // The generator's start and drain, and after the last one the removal of the container.
      'runs beyond': run - runMs - idleMs,
    },
  }
}

function format(values: readonly number[], decimals: number): string {
  return `${median(values)?.toFixed(decimals)} (${Math.min(...values).toFixed(decimals)}-${Math.max(...values).toFixed(decimals)})`
}

function seconds(ms: number | undefined): string {
  return ms === undefined ? '–' : `${(ms / 1000).toFixed(2)} s`
}
