/**
 * CPU and wall time from the start of the process to its first output, ours against Node's own and a peer's, interleaved:
 * node bench/startup.ts [--rounds 10] [--json]. Measures dist/, so run `npm run build` first.
 */
import { spawn } from 'node:child_process'
import { mkdtempDisposableSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import { linuxHost } from '../src/bench/host.ts'
import { median } from '../src/stats/quantile.ts'

interface Subject {
  readonly name: string
  readonly args: readonly string[]
}

interface Sample {
  readonly cpuMs: number
  readonly wallMs: number
}

const HOOK = join(import.meta.dirname, 'startup-hook.cjs')

const { values: options } = parseArgs({
  options: { rounds: { type: 'string', default: '10' }, json: { type: 'boolean', default: false } },
})
using folder = mkdtempDisposableSync(join(tmpdir(), 'bench-startup-'))
const scenario = 'scenarios/static-files.yml'
const subjects: readonly Subject[] = [
  { name: 'node -e 0', args: ['-e', '0'] },
  { name: 'autocannon --help', args: ['node_modules/autocannon/autocannon.js', '--help'] },
  { name: 'bench-action --help', args: ['dist/cli.cjs', '--help'] },
  { name: 'bench-action validate', args: ['dist/cli.cjs', 'validate', scenario] },
  { name: 'bench-action run', args: ['dist/cli.cjs', 'run', scenario, '--out', folder.path] },
]

const host = linuxHost()
const samples = new Map<Subject, Sample[]>(subjects.map((subject) => [subject, []]))
// The first start reads the files into the page cache and is not counted.
for (const subject of subjects) await start(subject)
for (let round = 0; round < Number(options.rounds); round += 1) {
  await host.awaitIdle(new AbortController().signal, () => 0)
  // There and back: a drift of the machine falls on all alike.
  for (const subject of round % 2 === 0 ? subjects : subjects.toReversed()) {
    samples.get(subject)?.push(await start(subject))
  }
}

const figures = [...samples].map(([{ name }, taken]) => ({
  name,
  runs: taken.length,
  cpuMs: spreadOf(taken.map(({ cpuMs }) => cpuMs)),
  wallMs: spreadOf(taken.map(({ wallMs }) => wallMs)),
}))
if (options.json) console.log(JSON.stringify(figures))
else {
  const [node] = figures
  for (const { name, runs, cpuMs, wallMs } of figures) {
    const ratio = cpuMs.median / (node?.cpuMs.median ?? Number.NaN)
    console.log(
      `${name.padEnd(24)}${format(cpuMs)} ms CPU, ${format(wallMs)} ms, ${ratio.toFixed(2)} x Node's CPU, n = ${runs}`,
    )
  }
}

/** Starts a subject and ends it at its first output, unless it ends by itself. */
async function start({ name, args }: Subject): Promise<Sample> {
  const startedAt = performance.timeOrigin + performance.now()
  const child = spawn(process.execPath, ['--require', HOOK, ...args], {
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  })
  const ended = new Promise<void>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', () => resolve())
  })
  const [, stdout, stderr, report] = child.stdio
  stdout?.resume()
  stderr?.resume()
  report?.once('data', () => {
    if (name === 'bench-action run') child.kill('SIGTERM')
  })
  const [line] = await Promise.all([text(report as NodeJS.ReadableStream), ended])
  const { cpuUs, atMs } = JSON.parse(line)
  return { cpuMs: cpuUs / 1000, wallMs: atMs - startedAt }
}

function spreadOf(values: readonly number[]) {
  return { median: median(values) ?? Number.NaN, low: Math.min(...values), high: Math.max(...values) }
}

function format({ median, low, high }: ReturnType<typeof spreadOf>): string {
  return `${median.toFixed(0)} (${low.toFixed(0)}-${high.toFixed(0)})`
}
