import type { CgroupCounters } from '../docker/cgroup.ts'
import type { Case } from '../model/plan.ts'
import type { NetworkPath, Placement } from '../model/results.ts'
import type { Target } from '../model/target.ts'

/** A started target, until its scope ends. */
export interface Service extends AsyncDisposable {
  /** Origin for our own few requests. */
  readonly checkOrigin: string
  /** Origin for the generator, which runs behind `prefix`. */
  readonly loadOrigin: string
  /** Argv that brings the generator to its place: namespace and CPUs. */
  readonly prefix: readonly string[]
  readonly path: NetworkPath
  readonly placement: Placement
  /** Moments on `performance.now()`'s clock, in milliseconds; absent for a `url` target. */
  readonly started?: { readonly requestedAtMs: number; readonly startedAtMs: number }
  /** Counters of its control group; undefined for a `url` target. */
  readCounters(): CgroupCounters | undefined
  /** Changes its CPU quota; undefined lifts it. */
  setCpus(cpus: number | undefined): Promise<void>
  /** Runs a command inside the container. */
  exec(
    command: readonly string[],
    options: { readonly signal: AbortSignal },
  ): Promise<{ readonly exitCode: number; readonly output: string }>
  /** Why it does not run any more, e.g. "was killed: out of memory"; undefined while it runs. */
  ended(): Promise<string | undefined>
  /** Last lines of its log, oldest first. */
  logTail(): Promise<readonly string[]>
}

/** Starts the target of a case under the case's limits. */
export type StartService = (target: Target, benchCase: Case, imageId: string | undefined) => Promise<Service>
