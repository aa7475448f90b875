import type { Lab } from '../../src/bench/case.ts'
import type { Host } from '../../src/bench/host.ts'
import type { Progress } from '../../src/bench/progress.ts'
import type { Service } from '../../src/bench/service.ts'
import type { CgroupCounters } from '../../src/docker/cgroup.ts'
import type { Engine, EngineJob } from '../../src/engine/engine.ts'
import type { Case } from '../../src/model/plan.ts'
import type { LoadRecord } from '../../src/model/results.ts'
import type { Target } from '../../src/model/target.ts'
import { Histogram } from '../../src/stats/histogram.ts'

/** A laboratory without Docker, generator or clock, that notes what is done in it. */
export interface FakeLab extends Lab {
  /** What happened, in order: `start`, `quota 0.5`, `load 2000`, `exec fill`, `gone` … */
  readonly journal: string[]
  readonly progress: Progress[]
}

export interface FakeLabOptions {
  /** Where checks go: a real server on loopback. */
  readonly origin: string
  /** Why the target has ended, asked after each run; undefined while it runs. */
  readonly ended?: () => string | undefined
  /** CPU time in microseconds that others take on the target's core, in the run of this index. */
  readonly foreignUs?: (run: number) => number
  readonly failStart?: string
  readonly failEngine?: string
  readonly controller?: AbortController
  /** Called when load begins. */
  readonly onLoad?: (job: EngineJob) => void
}

export const WINDOW_US = 5_000_000

/** A laboratory in which each run uses all of a quota of 0.5 cores, unless others take them. */
export function createFakeLab(options: FakeLabOptions): FakeLab {
  const journal: string[] = []
  const progress: Progress[] = []
  const controller = options.controller ?? new AbortController()
  const counters = { cpuUs: 0, periods: 0, throttled: 0, foreignUs: 0 }
  let measured = 0
  let elapsedMs = 0

  const engine: Engine = {
    name: 'autocannon',
    version: async () => '9.0.0',
    async run(job, { onWindow }) {
      journal.push(
        `load ${job.load.stop.kind === 'duration' ? job.load.stop.durationMs : job.load.stop.count}`,
      )
      options.onLoad?.(job)
      if (options.failEngine !== undefined) throw new Error(options.failEngine)
      controller.signal.throwIfAborted()
      onWindow('open')
      if (job.settleMs > 0) {
        measured += 1
        const foreignUs = options.foreignUs?.(measured) ?? 0
        counters.foreignUs += foreignUs
        counters.cpuUs += Math.min(WINDOW_US * 0.5, WINDOW_US - foreignUs)
        counters.periods += 50
        counters.throttled += foreignUs > 0 ? 0 : 50
        elapsedMs += WINDOW_US / 1000
      }
      onWindow('close')
      return createLoadRecord(job)
    },
  }

  const host: Host = {
    topology: { cpus: [0, 1], siblings: { 0: [0], 1: [1] } },
    cpuTimes: () => ({
      busyUs: counters.cpuUs + counters.foreignUs,
      stealUs: 0,
      busyByCpuUs: { 0: counters.cpuUs + counters.foreignUs, 1: 0 },
      stealByCpuUs: {},
    }),
    awaitIdle: async () => ({ waitedMs: 300, idle: true }),
  }

  return {
    journal,
    progress,
    host,
    engine: () => engine,
    clock: { now: () => new Date('2026-01-02T03:04:05Z'), elapsedMs: () => elapsedMs },
    onProgress: (event) => progress.push(event),
    signal: controller.signal,
    startService: async () => {
      if (options.failStart !== undefined) throw new Error(options.failStart)
      journal.push('start')
      const service: Service = {
        checkOrigin: options.origin,
        loadOrigin: 'http://127.0.0.1:1',
        prefix: [],
        path: 'netns',
        placement: { targetCpus: [0], generatorCpus: [1] },
        started: { requestedAtMs: performance.now() - 20, startedAtMs: performance.now() - 10 },
        readCounters: (): CgroupCounters => ({
          cpuUs: counters.cpuUs,
          periods: counters.periods,
          throttledPeriods: counters.throttled,
          throttledUs: 0,
          memoryBytes: 1000,
          oomKills: 0,
        }),
        setCpus: async (cpus) => {
          journal.push(`quota ${cpus ?? 'lifted'}`)
        },
        exec: async (command) => {
          journal.push(`exec ${command.join(' ')}`)
          return { exitCode: command[0] === 'false' ? 1 : 0, output: 'some output' }
        },
        ended: async () => options.ended?.(),
        logTail: async () => ['the last line of its log'],
        [Symbol.asyncDispose]: async () => {
          journal.push('gone')
        },
      }
      return service
    },
  }
}

/** 1000 answers of a millisecond each. */
function createLoadRecord(job: EngineJob): LoadRecord {
  const histogram = new Histogram()
  histogram.record(1000, 1000)
  const latency = {
    count: 1000,
    source: 'samples',
    omission: 'not-corrected',
    resolutionUs: 1,
    sumUs: 1_000_000,
    sumSquaresUs: 1e9,
    histogram: histogram.encode(),
  } as const
  return {
    engine: { name: 'autocannon', version: '9.0.0' },
    windowUs: WINDOW_US,
    sent: 1000,
    ok: 1000,
    failures: { status: 0, timeout: 0, connect: 0, reset: 0, lost: 0, other: 0 },
    unanswered: 0,
    completedOk: 1000,
    statuses: { 200: 1000 },
    bytesIn: 1000,
    bytesOut: 1000,
    connect: latency,
    latency,
    requests: job.requests.map(({ name }) => ({ name, sent: 1000, ok: 1000, latency })),
    generator: { cpuUs: 100_000, cores: 1 },
  }
}

/** A target whose readiness is a command, so that only its checks need a server. */
export function createFakeTarget(overrides: Partial<Target> = {}): Target {
  return {
    name: 'fake',
    source: { kind: 'image', image: 'fake:1' },
    port: 80,
    env: {},
    capabilities: [],
    ready: { kind: 'command', command: ['true'], timeoutMs: 1000 },
    prepare: [],
    verify: [],
    ...overrides,
  }
}

export function createFakeCase(overrides: Partial<Case> = {}): Case {
  return {
    id: 'fake/fake/autocannon/c16/cpus-0.5',
    scenario: 'fake',
    target: 'fake',
    engine: 'autocannon',
    requests: [{ name: 'root', method: 'GET', path: '/', headers: {}, weight: 1 }],
    load: {
      model: 'closed',
      connections: 16,
      stop: { kind: 'duration', durationMs: 5000 },
      warmupMs: 2000,
      connection: 'keep-alive',
      timeoutMs: 10_000,
    },
    limits: { cpus: 0.5, periodUs: 100_000 },
    runs: 2,
    coldStarts: 0,
    ...overrides,
  }
}
