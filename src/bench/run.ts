import type { CgroupCounters } from '../docker/cgroup.ts'
import type { Engine, EngineJob } from '../engine/engine.ts'
import type { Case } from '../model/plan.ts'
import type { HostUsage, Run, TargetUsage, UsageSample } from '../model/results.ts'
import type { CpuTimes, Host } from './host.ts'
import type { Service } from './service.ts'

/** Quota bursts and connects at the start of a run are over by then (field measurements: 4 % too much CPU in 3 s without). */
export const SETTLE_MS = 1000
const SAMPLE_EVERY_MS = 100

/** Time, so that tests need not wait for it. */
export interface Clock {
  readonly now: () => Date
  /** Monotonic, in milliseconds. */
  readonly elapsedMs: () => number
}

/** The counters of everything but the generator at one moment. */
interface Reading {
  readonly atMs: number
  readonly target: CgroupCounters | undefined
  readonly host: CpuTimes
  readonly ownCpuUs: number
}

/** Warms a service up: load whose record nobody reads. @throws Error when the engine fails */
export async function warmUp(
  service: Service,
  engine: Engine,
  benchCase: Case,
  signal: AbortSignal,
): Promise<void> {
  if (benchCase.load.warmupMs === 0) return
  const load = { ...benchCase.load, stop: { kind: 'duration', durationMs: benchCase.load.warmupMs } } as const
  const job = { origin: service.loadOrigin, requests: benchCase.requests, load, settleMs: 0 }
  await engine.run(job, { prefix: service.prefix, signal, onWindow: () => {} })
}

/**
 * Loads a service once and reads what it, its host and the generator did in the very window that the engine measured.
 * @throws Error when the engine fails
 */
export async function measureRun(
  service: Service,
  engine: Engine,
  host: Host,
  benchCase: Case,
  index: number,
  clock: Clock,
  signal: AbortSignal,
): Promise<Run> {
  const wait = await host.awaitIdle(signal, () => service.readCounters()?.cpuUs ?? 0)
  const startedAt = clock.now().toISOString()
  const job: EngineJob = {
    origin: service.loadOrigin,
    requests: benchCase.requests,
    load: benchCase.load,
    settleMs: SETTLE_MS,
  }

  let opened: Reading | undefined
  let closed: Reading | undefined
  const timeline: UsageSample[] = []
  let sampler: NodeJS.Timeout | undefined
  const onWindow = (edge: 'open' | 'close'): void => {
    const reading = readAll(service, host, clock)
    if (edge === 'close') {
      clearInterval(sampler)
      closed = reading
      return
    }
    opened = reading
    sampler = setInterval(() => {
      const target = service.readCounters()
      if (target && reading.target)
        timeline.push(sampleOf(reading.target, target, clock.elapsedMs() - reading.atMs))
    }, SAMPLE_EVERY_MS)
  }

  try {
    const load = await engine.run(job, { prefix: service.prefix, signal, onWindow })
    if (opened === undefined || closed === undefined)
      throw new Error(`${engine.name} ended without a measuring window`)
    const usage = usageBetween(opened, closed, timeline)
    return {
      side: 'head',
      epoch: 1,
      index,
      startedAt,
      path: service.path,
      placement: service.placement,
      load,
      ...(usage === undefined ? {} : { usage }),
      host: {
        idleWaitMs: wait.waitedMs,
        idle: wait.idle,
        ...hostUsageBetween(opened, closed, service.placement.targetCpus, load.generator.cpuUs),
      },
    }
  } finally {
    clearInterval(sampler)
  }
}

function readAll(service: Service, host: Host, clock: Clock): Reading {
  const { user, system } = process.cpuUsage()
  return {
    atMs: clock.elapsedMs(),
    target: service.readCounters(),
    host: host.cpuTimes(),
    ownCpuUs: user + system,
  }
}

function sampleOf(first: CgroupCounters, now: CgroupCounters, elapsedMs: number): UsageSample {
  return {
    atUs: Math.round(elapsedMs * 1000),
    cpuUs: Math.round(now.cpuUs - first.cpuUs),
    memoryBytes: now.memoryBytes,
  }
}

function usageBetween(
  opened: Reading,
  closed: Reading,
  timeline: readonly UsageSample[],
): TargetUsage | undefined {
  if (opened.target === undefined || closed.target === undefined) return undefined
  const [before, after] = [opened.target, closed.target]
  const wallMs = closed.atMs - opened.atMs
  return {
    wallUs: Math.round(wallMs * 1000),
    cpuUs: Math.round(after.cpuUs - before.cpuUs),
    periods: after.periods - before.periods,
    throttledPeriods: after.throttledPeriods - before.throttledPeriods,
    throttledUs: Math.round(after.throttledUs - before.throttledUs),
    oomKills: after.oomKills - before.oomKills,
    ...(after.memoryPeakBytes === undefined ? {} : { memoryPeakBytes: after.memoryPeakBytes }),
    timeline: [sampleOf(before, before, 0), ...timeline, sampleOf(before, after, wallMs)],
  }
}

/** Others are everything busy that is neither the target nor the generator nor ourselves. */
function hostUsageBetween(
  opened: Reading,
  closed: Reading,
  targetCpus: readonly number[],
  generatorUs: number,
): Omit<HostUsage, 'idle' | 'idleWaitMs'> {
  const targetUs = (closed.target?.cpuUs ?? 0) - (opened.target?.cpuUs ?? 0)
  const ownUs = closed.ownCpuUs - opened.ownCpuUs
  const onTarget = (times: 'busyByCpuUs' | 'stealByCpuUs'): number =>
    targetCpus.reduce((sum, cpu) => sum + (closed.host[times][cpu] ?? 0) - (opened.host[times][cpu] ?? 0), 0)
  const stolen = targetCpus.length > 0 ? onTarget('stealByCpuUs') : closed.host.stealUs - opened.host.stealUs
  return {
    wallUs: Math.round((closed.atMs - opened.atMs) * 1000),
    foreignUs: Math.round(closed.host.busyUs - opened.host.busyUs - targetUs - ownUs - generatorUs),
    stealUs: Math.round(stolen),
    ...(targetCpus.length === 0 ? {} : { foreignOnTargetUs: Math.round(onTarget('busyByCpuUs') - targetUs) }),
  }
}
