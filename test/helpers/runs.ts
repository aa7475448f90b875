import type { Case, Load, Plan } from '../../src/model/plan.ts'
import type {
  CaseResult,
  HostUsage,
  LatencyRecord,
  LoadRecord,
  Results,
  Run,
  TargetUsage,
  UsageSample,
} from '../../src/model/results.ts'
import type { Target } from '../../src/model/target.ts'
import { Histogram } from '../../src/stats/histogram.ts'

/** What a test changes in a run; the parts are merged, `usage: undefined` takes the counters away. */
export interface RunOverrides extends Partial<Omit<Run, 'load' | 'usage' | 'host'>> {
  readonly load?: Partial<LoadRecord>
  readonly usage?: Partial<TargetUsage> | undefined
  readonly host?: Partial<HostUsage>
}

const SECOND_US = 1_000_000
const RUN_SECONDS = 5
const NO_FAILURES = { status: 0, timeout: 0, connect: 0, reset: 0, lost: 0, other: 0 } as const

/** Latencies of so many microseconds, each as often as it is said. */
export function createLatency(...values: readonly (readonly [us: number, count: number])[]): LatencyRecord {
  const histogram = new Histogram()
  for (const [us, count] of values) histogram.record(us, count)
  return {
    count: histogram.count,
    source: 'samples',
    omission: 'not-corrected',
    resolutionUs: 1,
    sumUs: values.reduce((sum, [us, count]) => sum + us * count, 0),
    sumSquaresUs: values.reduce((sum, [us, count]) => sum + us * us * count, 0),
    histogram: histogram.encode(),
  }
}

/** A reading every 100 ms of a run that uses this share of a core. */
export function createTimeline(cores: number, memoryBytes = 10_000_000): readonly UsageSample[] {
  return Array.from({ length: RUN_SECONDS * 10 + 1 }, (_, index) => ({
    atUs: index * 100_000,
    cpuUs: Math.round(index * 100_000 * cores),
    memoryBytes,
  }))
}

/** Five seconds on 0.5 cores, quota-bound, without a fault: 1000 req/s on 16 connections, each request 16 ms. */
export function createRun(overrides: RunOverrides = {}): Run {
  const { load, usage, host, ...rest } = overrides
  const latency = load?.latency ?? createLatency([16_000, 5_000])
  const counters = {
    wallUs: RUN_SECONDS * SECOND_US,
    cpuUs: 2_500_000,
    periods: 50,
    throttledPeriods: 49,
    throttledUs: 2_400_000,
    memoryPeakBytes: 12_000_000,
    oomKills: 0,
    timeline: createTimeline(0.5),
    ...usage,
  }
  return {
    side: 'head',
    epoch: 1,
    index: 1,
    startedAt: '2026-01-02T03:04:06.000Z',
    path: 'netns',
    placement: { targetCpus: [0], generatorCpus: [1] },
    load: {
      engine: { name: 'autocannon', version: '9.0.0' },
      windowUs: RUN_SECONDS * SECOND_US,
      sent: 5_000,
      ok: 5_000,
      failures: NO_FAILURES,
      unanswered: 0,
      completedOk: 5_000,
      statuses: { 200: 5_000 },
      bytesIn: 2_000_000,
      bytesOut: 500_000,
      connect: createLatency([90, 16]),
      latency,
      requests: [{ name: 'page', sent: 5_000, ok: 5_000, latency }],
      generator: { cpuUs: 1_000_000, cores: 1 },
      ...load,
    },
    ...('usage' in overrides && usage === undefined ? {} : { usage: counters }),
    host: {
      idleWaitMs: 301,
      idle: true,
      foreignUs: 50_000,
      foreignOnTargetUs: 10_000,
      stealUs: 0,
      wallUs: RUN_SECONDS * SECOND_US,
      ...host,
    },
    ...rest,
  }
}

/** Failure counts of a run, none of the kinds that are not named. */
export function createFailures(failures: Partial<LoadRecord['failures']>): LoadRecord['failures'] {
  return { ...NO_FAILURES, ...failures }
}

/** The case that `createRun` is a run of. */
export function createCase(
  overrides: Partial<Omit<Case, 'load'>> & { readonly load?: Partial<Load> } = {},
): Case {
  const { load, ...rest } = overrides
  const limits = overrides.limits ?? { cpus: 0.5, periodUs: 100_000 }
  return {
    id: `static-files/static-files/autocannon/c16/cpus-${limits.cpus ?? 'none'}`,
    scenario: 'static-files',
    target: 'static-files',
    engine: 'autocannon',
    requests: [{ name: 'page', method: 'GET', path: '/', headers: {}, weight: 1 }],
    load: {
      model: 'closed',
      connections: 16,
      stop: { kind: 'duration', durationMs: 5_000 },
      warmupMs: 2_000,
      connection: 'keep-alive',
      timeoutMs: 10_000,
      ...load,
    },
    limits,
    runs: 1,
    coldStarts: 0,
    ...rest,
  }
}

/** The outcome of a case: one good run unless told otherwise. */
export function createCaseResult(overrides: Partial<CaseResult> = {}): CaseResult {
  return { id: createCase().id, coldStarts: [], runs: [createRun()], ...overrides }
}

/** The target that `createCase` loads. */
export function createTarget(overrides: Partial<Target> = {}): Target {
  return {
    name: 'static-files',
    source: { kind: 'build', context: '/src', dockerfile: '/src/Dockerfile', args: {} },
    port: 8080,
    env: {},
    capabilities: [],
    ready: { kind: 'http', path: '/', timeoutMs: 60_000 },
    prepare: [],
    verify: [],
    ...overrides,
  }
}

/** A finished measurement of `createCase` on a small machine. */
export function createResults(
  overrides: Partial<Omit<Results, 'plan'>> & { readonly plan?: Partial<Plan> } = {},
): Results {
  const { plan, ...rest } = overrides
  return {
    version: 1,
    tool: { name: 'bench-action', version: '0.1.0' },
    startedAt: '2026-01-02T03:04:05.678Z',
    finishedAt: '2026-01-02T03:05:05.678Z',
    revision: { sha: '0123456789abcdef0123456789abcdef01234567', branch: 'main', dirty: false },
    environment: {
      cpuModel: 'Example CPU',
      cores: 2,
      memoryBytes: 8_000_000_000,
      kernel: '6.1.0',
      os: 'Debian GNU/Linux 12 (bookworm)',
      arch: 'x64',
      cgroupVersion: 2,
      docker: { version: '28.0.0', storageDriver: 'overlay2', cgroupDriver: 'systemd' },
      node: '24.0.0',
    },
    plan: { seed: 7, targets: [createTarget()], cases: [createCase()], ...plan },
    images: [{ target: 'static-files', id: `sha256:${'a'.repeat(64)}`, sizeBytes: 5_800_000 }],
    cases: [createCaseResult()],
    ...rest,
  }
}
