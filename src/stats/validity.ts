import type { Case } from '../model/plan.ts'
import { FAILURE_KINDS, type Run } from '../model/results.ts'

/** What set the throughput of a run. */
export type Bound = 'quota-bound' | 'cpu-bound' | 'generator-bound' | 'host-bound' | 'latency-bound'

/** What a run proves about itself. Ratios are 0-1 unless said otherwise. */
export interface Judgement {
  readonly bound: Bound
  /** Set when the run must not show a number. */
  readonly invalid?: string
  /** Set when the host was taken away from it: repeat it. */
  readonly retry?: string
  /** What may have moved its numbers, and what to do about it. */
  readonly warnings: readonly string[]
  readonly errorRatio: number
  /** CPU time used over quota x wall time; absent without a quota. About 1 when the quota is the limit. */
  readonly cpuUsedRatio?: number
  /** Throttled over all CFS periods; absent without a quota. */
  readonly throttledRatio?: number
  /** CPU time of the generator over that of the cores that it can use. */
  readonly generatorRatio: number
  /** Throughput x mean latency over connections (Little's law); about 1 in a closed loop. Absent without answers. */
  readonly littleRatio?: number
  /** CPU time that others used on the target's cores, in cores. */
  readonly foreignCores: number
  /** CPU time that the hypervisor gave to others where the target may run, in cores. */
  readonly stealCores: number
}

/** Above this share of failed requests a run says nothing about the service. */
const MAX_ERROR_RATIO = 0.01
/** A quota-bound target uses at least this share of its quota. */
const QUOTA_USED = 0.97
const QUOTA_OVERRUN = 1.03
/** More than a window that begins and ends badly can explain. */
const QUOTA_BROKEN = 1.2
const MANY_PERIODS_US = 1_000_000
const QUOTA_THROTTLED = 0.8
const GENERATOR_SATURATED = 0.8
const FOREIGN_NOTABLE = 0.05
const STEAL_NOTABLE = 0.02
const CORE_FULL = 0.9
const LITTLE_TOLERANCE = 0.2

/** Judges one run by its own counters. */
export function judgeRun(run: Run, benchCase: Case): Judgement {
  const facts = measureFacts(run, benchCase)
  const bound = findBound(run, facts)
  const invalid =
    run.load.sent === 0
      ? `no request was sent in the window of ${(run.load.windowUs / 1e6).toFixed(1)} s: those before it take longer; raise load.duration`
      : facts.errorRatio > MAX_ERROR_RATIO
        ? `${percent(facts.errorRatio)} of ${run.load.sent} requests failed (${describeFailures(run, benchCase)})`
        : findUnenforced(run, facts)
  const retry =
    bound === 'host-bound'
      ? `the host was taken away: others used ${(facts.foreignCores + facts.stealCores).toFixed(2)} cores`
      : undefined
  return {
    ...facts,
    bound,
    warnings: findWarnings(run, benchCase, facts),
    ...(invalid === undefined ? {} : { invalid }),
    ...(retry === undefined ? {} : { retry }),
  }
}

type Facts = Omit<Judgement, 'bound' | 'invalid' | 'retry' | 'warnings'>

function measureFacts(run: Run, benchCase: Case): Facts {
  const { load, usage, host } = run
  const { cpus } = benchCase.limits
  const limited = usage !== undefined && cpus !== undefined
  const meanUs = load.latency.sumUs / load.latency.count
  return {
    errorRatio: load.sent === 0 ? 1 : countFailed(run) / load.sent,
    generatorRatio: load.generator.cpuUs / (load.windowUs * load.generator.cores),
    foreignCores: Math.max(0, host.foreignOnTargetUs ?? host.foreignUs) / host.wallUs,
    stealCores: host.stealUs / host.wallUs,
    ...(limited ? { cpuUsedRatio: usage.cpuUs / (usage.wallUs * cpus) } : {}),
    ...(limited && usage.periods > 0 ? { throttledRatio: usage.throttledPeriods / usage.periods } : {}),
    ...(load.latency.count === 0
      ? {}
      : { littleRatio: ((load.completedOk / load.windowUs) * meanUs) / benchCase.load.connections }),
  }
}

function findBound(run: Run, facts: Facts): Bound {
  const quotaUsed = (facts.cpuUsedRatio ?? 0) >= QUOTA_USED || (facts.throttledRatio ?? 0) >= QUOTA_THROTTLED
  if (quotaUsed) return 'quota-bound'
  if (facts.generatorRatio >= GENERATOR_SATURATED) return 'generator-bound'
  const cores = run.placement.targetCpus.length
  // Of a target that may run anywhere nobody knows which cores were its own.
  if (run.usage === undefined || cores === 0) return 'latency-bound'
  const own = run.usage.cpuUs / run.usage.wallUs
  const full = own + facts.foreignCores + facts.stealCores >= CORE_FULL * cores
  if (!full) return 'latency-bound'
  // Full, but not of it alone: it would have used more.
  return isDisturbed(facts) ? 'host-bound' : 'cpu-bound'
}

/** A quota that the kernel does not enforce makes all numbers those of another machine. */
function findUnenforced({ usage }: Run, { cpuUsedRatio }: Facts): string | undefined {
  if (usage === undefined || cpuUsedRatio === undefined) return undefined
  if (usage.periods === 0 && usage.wallUs >= MANY_PERIODS_US) {
    return 'the CPU quota was not enforced: the kernel counted no period of it'
  }
  return cpuUsedRatio > QUOTA_BROKEN && usage.wallUs >= MANY_PERIODS_US
    ? `the CPU quota was not enforced: ${cpuUsedRatio.toFixed(2)} x of it was used`
    : undefined
}

function isDisturbed(facts: Facts): boolean {
  return facts.foreignCores >= FOREIGN_NOTABLE || facts.stealCores >= STEAL_NOTABLE
}

function findWarnings(run: Run, benchCase: Case, facts: Facts): readonly string[] {
  const { load, usage, host } = run
  const { generatorRatio, foreignCores, stealCores, littleRatio, cpuUsedRatio, errorRatio } = facts
  const failed = countFailed(run)
  const warnings: string[] = []
  if (generatorRatio >= GENERATOR_SATURATED) {
    warnings.push(
      `the generator used ${percent(generatorRatio)} of its core, so throughput and latency are partly its own: use a lower quota or a faster engine`,
    )
  }
  // What runs at a url on this machine is no stranger.
  if (isDisturbed(facts) && run.path !== 'url') {
    warnings.push(
      `others used ${foreignCores.toFixed(2)} cores beside the target and ${stealCores.toFixed(2)} were stolen: end what runs on this machine and repeat`,
    )
  }
  const inLittlesLaw = littleRatio === undefined || Math.abs(littleRatio - 1) <= LITTLE_TOLERANCE
  // Opening connections takes time that is in no latency.
  const kept = load.connect.count < load.sent / 10
  if (!inLittlesLaw && kept && benchCase.load.connection === 'keep-alive') {
    warnings.push(
      `throughput x mean latency is ${littleRatio.toFixed(2)} x the connections instead of 1 (Little's law): the run is too short for its latencies, or requests were lost`,
    )
  }
  if (cpuUsedRatio !== undefined && cpuUsedRatio > QUOTA_OVERRUN) {
    warnings.push(
      `the target used ${cpuUsedRatio.toFixed(2)} x its quota: the run is too short for the CFS period`,
    )
  }
  if (load.unanswered > 0) warnings.push(`${load.unanswered} requests had no outcome when the run ended`)
  if (failed > load.unanswered && errorRatio <= MAX_ERROR_RATIO) {
    warnings.push(`${failed} of ${load.sent} requests failed (${describeFailures(run, benchCase)})`)
  }
  if (usage !== undefined && usage.oomKills > 0) {
    warnings.push('the kernel killed a process of the target for want of memory: raise limits.memory')
  }
  if (usage === undefined && run.path !== 'url') {
    warnings.push("the target's control group could not be read: nothing proves its limits and its CPU time")
  }
  if (run.path === 'bridge') {
    warnings.push(
      "the generator could not enter the target's network namespace, which takes root or passwordless sudo: part of the kernel's work is charged to the target",
    )
  }
  if (usage !== undefined && run.placement.targetCpus.length === 0) {
    warnings.push(
      'target and generator share their cores and disturb each other: use a lower quota or more cores',
    )
  }
  if (!host.idle) {
    warnings.push(`the host was not idle after ${(host.idleWaitMs / 1000).toFixed(0)} s of waiting`)
  }
  return warnings
}

function countFailed({ load }: Run): number {
  return FAILURE_KINDS.reduce((sum, kind) => sum + load.failures[kind], load.unanswered)
}

function describeFailures({ load }: Run, { requests }: Case): string {
  const accepted = new Set(requests.flatMap(({ status }) => status ?? []).map(String))
  const kinds = FAILURE_KINDS.filter((kind) => load.failures[kind] > 0).map((kind) => {
    if (kind !== 'status') return `${kind} ${load.failures[kind]}`
    const codes = Object.entries(load.statuses).filter(
      ([status]) => !accepted.has(status) && !status.startsWith('2'),
    )
    if (codes.length === 0) return `status ${load.failures.status}`
    return `status ${codes.map(([status, count]) => `${count} x ${status}`).join(', ')}`
  })
  const unanswered = load.unanswered > 0 ? [`unanswered ${load.unanswered}`] : []
  return [...kinds, ...unanswered].join(', ') || 'none was sent'
}

function percent(ratio: number): string {
  return `${(ratio * 100).toFixed(ratio < 0.1 ? 1 : 0)} %`
}
