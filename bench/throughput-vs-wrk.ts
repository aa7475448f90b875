/**
 * Our req/s against those of wrk, and of oha where it is on PATH, on the same container, path, quota and cores,
 * interleaved: node bench/throughput-vs-wrk.ts [--scenario scenarios/hello.yml] [--quotas 0.1,0.25,0.5] [--rounds 6] [--seconds 2] [--json]
 */
import { parseArgs } from 'node:util'
import { dockerServices } from '../src/bench/docker-service.ts'
import { linuxHost } from '../src/bench/host.ts'
import { awaitReady } from '../src/bench/probe.ts'
import { measureRun, SETTLE_MS, warmUp } from '../src/bench/run.ts'
import type { Service } from '../src/bench/service.ts'
import { connectDocker } from '../src/docker/docker.ts'
import { ensureImage } from '../src/docker/image.ts'
import { detectNetnsAccess } from '../src/docker/netns.ts'
import { autocannonEngine } from '../src/engine/autocannon.ts'
import { CommandError, exec } from '../src/lib/exec.ts'
import { newSession } from '../src/lib/session.ts'
import type { Case } from '../src/model/plan.ts'
import { loadPlan } from '../src/plan/load.ts'
import { median } from '../src/stats/quantile.ts'

/** One run of one tool. */
interface Sample {
  readonly requests: number
  readonly perSecond: number
  /** Requests per second of CPU time of the target: what a quota-bound service can do, whatever the run's length. */
  readonly perCpuSecond: number
  /** CPU time of the target over its quota. */
  readonly cpuUsedRatio: number
  /** CPU time of the generator over its core; known of ours only. */
  readonly generatorRatio?: number
}

interface Tool {
  readonly name: string
  readonly version: string
  readonly run: (service: Service, benchCase: Case) => Promise<Sample>
}

/** Figures of one tool at one quota; medians, with lowest and highest. */
interface Figures {
  readonly tool: string
  readonly runs: number
  readonly repeated: number
  readonly perSecond: Spread
  readonly perCpuSecond: Spread
  readonly cpuUsedRatio: Spread
  readonly generatorRatio?: Spread
  /** Ours over this tool's, of the means of each round; absent for ours. */
  readonly ratioPerSecond?: Spread
  readonly ratioPerCpuSecond?: Spread
}

interface Spread {
  readonly median: number
  readonly low: number
  readonly high: number
}

/** The host was taken away from a sample that used less of its quota; it is taken again, so many times a quota. */
const QUOTA_USED = 0.97
const MAX_REPEATS = 4

const { values: options } = parseArgs({
  options: {
    scenario: { type: 'string', default: 'scenarios/static-files.yml' },
    quotas: { type: 'string', default: '0.1,0.25,0.5' },
    rounds: { type: 'string', default: '6' },
    seconds: { type: 'string', default: '2' },
    json: { type: 'boolean', default: false },
  },
})
const abort = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => abort.abort(new Error(signal)))
const { signal } = abort
const host = linuxHost()
const durationMs = Number(options.seconds) * 1000
const wallSeconds = (durationMs + SETTLE_MS) / 1000

const session = newSession()
const docker = await connectDocker()
const netns = await detectNetnsAccess()
const plan = loadPlan([options.scenario], {}, { cores: 1, cwd: process.cwd(), seed: 0 })
const [target] = plan.targets
const [first] = plan.cases
const image = await ensureImage(docker, target, { session, signal, onLine: () => {} })
const startService = dockerServices({ docker, host, netns, session })
const tools = await findTools()
log(`${tools.map(({ name, version }) => `${name} ${version}`).join(', ')}; ${wallSeconds} s each`)

const outcome = []
for (const cpus of options.quotas.split(',').map(Number)) outcome.push({ cpus, tools: await compare(cpus) })
if (options.json) {
  console.log(JSON.stringify({ seconds: wallSeconds, connections: first.load.connections, quotas: outcome }))
} else {
  for (const { cpus, tools: figures } of outcome) printFigures(cpus, figures)
}

async function findTools(): Promise<readonly [Tool, ...Tool[]]> {
  const others = await Promise.all([findTool('wrk', '-v', runWrk), findTool('oha', '--version', runOha)])
  const ours = { name: 'ours', version: await autocannonEngine.version(), run: runOurs }
  return [ours, ...others.filter((tool) => tool !== undefined)]
}

async function findTool(name: string, flag: string, run: Tool['run']): Promise<Tool | undefined> {
  const text = await exec(name, [flag]).catch((error) => {
    // wrk says its version and fails nevertheless; one that is not there says nothing.
    if (error instanceof CommandError) return error.tail.join(' ')
    throw error
  })
  const [version] = /\d+\.\d+[^\s]*/.exec(text) ?? []
  if (version === undefined) log(`${name} is not on PATH: left out`)
  return version === undefined ? undefined : { name, version, run }
}

async function compare(cpus: number): Promise<readonly Figures[]> {
  const benchCase: Case = {
    ...first,
    requests: [{ name: 'page', method: 'GET', path: '/', headers: {}, weight: 1 }],
    load: { ...first.load, stop: { kind: 'duration', durationMs } },
    limits: { cpus, periodUs: first.limits.periodUs },
  }
  await using service = await startService(target, benchCase, image?.id)
  await awaitReady(service, target.ready, benchCase.requests[0], signal)
  await service.setCpus(undefined)
  await warmUp(service, autocannonEngine, benchCase, signal)
  await service.setCpus(cpus)

  const samples = new Map<Tool, Sample[]>(tools.map((tool) => [tool, []]))
  const repeats = new Map<Tool, number>()
  // ABC CBA: a drift of the machine falls on all alike.
  const round = [...tools, ...tools.toReversed()]
  for (let i = 0; i < Number(options.rounds); i += 1) {
    for (const tool of round) {
      for (;;) {
        await host.awaitIdle(signal, () => service.readCounters()?.cpuUs ?? 0)
        const sample = await tool.run(service, benchCase)
        log(
          `${cpus} vCPU, ${tool.name}: ${sample.perSecond.toFixed(0)} req/s, ${sample.perCpuSecond.toFixed(0)} per CPU second, ${sample.cpuUsedRatio.toFixed(3)} of the quota`,
        )
        const repeated = repeats.get(tool) ?? 0
        if (sample.cpuUsedRatio >= QUOTA_USED || repeated >= MAX_REPEATS) {
          samples.get(tool)?.push(sample)
          break
        }
        repeats.set(tool, repeated + 1)
      }
    }
  }
  const [ours = []] = samples.values()
  return [...samples].map(([tool, taken]) => ({
    ...figuresOf(tool, taken, repeats.get(tool) ?? 0),
    ...(taken === ours ? {} : ratiosOf(ours, taken)),
  }))
}

async function runOurs(service: Service, benchCase: Case): Promise<Sample> {
  const run = await measureRun(
    service,
    autocannonEngine,
    host,
    benchCase,
    1,
    { now: () => new Date(), elapsedMs: () => performance.now() },
    signal,
  )
  if (run.usage === undefined) throw new Error('no counters of the target')
  const { load, usage } = run
  return {
    requests: load.completedOk,
    perSecond: load.completedOk / (load.windowUs / 1e6),
    perCpuSecond: load.completedOk / (usage.cpuUs / 1e6),
    cpuUsedRatio: usage.cpuUs / (usage.wallUs * (benchCase.limits.cpus ?? 1)),
    generatorRatio: load.generator.cpuUs / load.windowUs,
  }
}

/** As by hand: the same time in all, but counted from the first request on, since wrk knows no other way. */
async function runWrk(service: Service, benchCase: Case): Promise<Sample> {
  const argv = [
    'wrk',
    '-t1',
    `-c${benchCase.load.connections}`,
    `-d${wallSeconds}s`,
    `${service.loadOrigin}${benchCase.requests[0].path}`,
  ]
  return runByHand(service, benchCase, argv, (text) => {
    if (/Socket errors|Non-2xx/.test(text)) throw new Error(`wrk saw errors:\n${text}`)
    const [, requests] = /^\s*(\d+) requests in /m.exec(text) ?? []
    const [, perSecond] = /^Requests\/sec:\s+([\d.]+)/m.exec(text) ?? []
    return { requests: Number(requests), perSecond: Number(perSecond) }
  })
}

async function runOha(service: Service, benchCase: Case): Promise<Sample> {
  const argv = [
    'oha',
    '--no-tui',
    ...['--output-format', 'json'],
    ...['-c', String(benchCase.load.connections)],
    ...['-z', `${wallSeconds}s`],
    `${service.loadOrigin}${benchCase.requests[0].path}`,
  ]
  return runByHand(service, benchCase, argv, (text) => {
    const { summary, statusCodeDistribution: statuses } = JSON.parse(text)
    const requests = Number(statuses['200'])
    return { requests, perSecond: requests / Number(summary.total) }
  })
}

async function runByHand(
  service: Service,
  benchCase: Case,
  argv: readonly string[],
  parse: (text: string) => Pick<Sample, 'requests' | 'perSecond'>,
): Promise<Sample> {
  const [file = '', ...args] = [...service.prefix, ...argv]
  const before = service.readCounters()
  const text = await exec(file, args, { signal, timeoutMs: wallSeconds * 1000 + 30_000 })
  const after = service.readCounters()
  if (before === undefined || after === undefined) throw new Error('no counters of the target')
  const { requests, perSecond } = parse(text)
  const cpuUs = after.cpuUs - before.cpuUs
  return {
    requests,
    perSecond,
    perCpuSecond: requests / (cpuUs / 1e6),
    // Over the time that the tool says it loaded the target, not over that of its process.
    cpuUsedRatio: cpuUs / ((requests / perSecond) * 1e6 * (benchCase.limits.cpus ?? 1)),
  }
}

function figuresOf({ name }: Tool, samples: readonly Sample[], repeated: number): Figures {
  const generator = samples.map(({ generatorRatio }) => generatorRatio).filter((ratio) => ratio !== undefined)
  return {
    tool: name,
    runs: samples.length,
    repeated,
    perSecond: spreadOf(samples.map(({ perSecond }) => perSecond)),
    perCpuSecond: spreadOf(samples.map(({ perCpuSecond }) => perCpuSecond)),
    cpuUsedRatio: spreadOf(samples.map(({ cpuUsedRatio }) => cpuUsedRatio)),
    ...(generator.length === 0 ? {} : { generatorRatio: spreadOf(generator) }),
  }
}

/** Only what was measured within seconds is compared: the machine itself drifts by more than the tools differ. */
function ratiosOf(
  ours: readonly Sample[],
  others: readonly Sample[],
): Pick<Figures, 'ratioPerSecond' | 'ratioPerCpuSecond'> {
  const ratios = (of: (sample: Sample) => number): Spread =>
    spreadOf(
      Array.from({ length: Number(options.rounds) }, (_, round) => {
        const sum = (samples: readonly Sample[]) =>
          samples.slice(2 * round, 2 * round + 2).reduce((total, sample) => total + of(sample), 0)
        return sum(ours) / sum(others)
      }),
    )
  return {
    ratioPerSecond: ratios(({ perSecond }) => perSecond),
    ratioPerCpuSecond: ratios(({ perCpuSecond }) => perCpuSecond),
  }
}

function spreadOf(values: readonly number[]): Spread {
  return { median: median(values) ?? Number.NaN, low: Math.min(...values), high: Math.max(...values) }
}

function printFigures(cpus: number, figures: readonly Figures[]): void {
  const [ours, ...others] = figures
  if (ours === undefined) return
  console.log(`\n${cpus} vCPU`)
  for (const { tool, runs, repeated, perSecond, perCpuSecond, cpuUsedRatio, generatorRatio } of figures) {
    const generator =
      generatorRatio === undefined
        ? ''
        : `, ${(generatorRatio.median * 100).toFixed(0)} % of the generator's core`
    console.log(
      `  ${tool}: ${format(perSecond, 0)} req/s, ${format(perCpuSecond, 0)} per CPU second, ${format(cpuUsedRatio, 3)} of the quota${generator}, n = ${runs}, repeated ${repeated}`,
    )
  }
  for (const { tool, ratioPerSecond, ratioPerCpuSecond } of others) {
    if (ratioPerSecond === undefined || ratioPerCpuSecond === undefined) continue
    console.log(
      `  ours / ${tool}: req/s ${format(ratioPerSecond, 3)}, per CPU second ${format(ratioPerCpuSecond, 3)}, n = ${options.rounds} rounds`,
    )
  }
}

function format({ median, low, high }: Spread, decimals: number): string {
  return `${median.toFixed(decimals)} (${low.toFixed(decimals)}-${high.toFixed(decimals)})`
}

function log(text: string): void {
  console.error(text)
}
