import type { EngineName, Plan } from './plan.ts'

/** Version of the `Results` document; raised when a reader of the old one would misread the new one. */
export const RESULTS_VERSION = 1

/** The document that holds what was measured and nothing derived; every report is rebuilt from it. */
export interface Results {
  readonly version: typeof RESULTS_VERSION
  readonly tool: { readonly name: 'bench-action'; readonly version: string }
  /** RFC 3339. */
  readonly startedAt: string
  /** Absent until every case of the plan has been tried: a document without it was interrupted. */
  readonly finishedAt?: string
  readonly revision?: Revision
  readonly environment: Environment
  readonly plan: Plan
  /** One per target that runs from an image. */
  readonly images: readonly ImageRecord[]
  readonly cases: readonly CaseResult[]
}

/** The commit of the user's repository that was measured. */
export interface Revision {
  readonly sha: string
  readonly branch?: string
  /** True when the work tree had uncommitted changes. */
  readonly dirty: boolean
}

/** The machine; numbers of different fingerprints are not comparable. */
export interface Environment {
  readonly cpuModel: string
  readonly cores: number
  readonly memoryBytes: number
  readonly kernel: string
  readonly os: string
  readonly arch: string
  readonly cgroupVersion?: 1 | 2
  readonly docker?: {
    readonly version: string
    readonly storageDriver: string
    readonly cgroupDriver: string
  }
  readonly node: string
  /** Name and version of a hosted runner's image, where known. */
  readonly runnerImage?: string
}

export interface ImageRecord {
  readonly target: string
  /** Content id, `sha256:…`. */
  readonly id: string
  /** Uncompressed size as the engine reports it. */
  readonly sizeBytes: number
}

/** What became of one case: its runs, or why there are none. */
export interface CaseResult {
  /** Id of the plan's case. */
  readonly id: string
  readonly coldStarts: readonly ColdStart[]
  readonly runs: readonly Run[]
  /** Set when the case could not be finished; `runs` then holds what was measured before. */
  readonly failure?: Failure
}

/** Why a case has no numbers. */
export interface Failure {
  readonly stage: 'build' | 'start' | 'ready' | 'verify' | 'prepare' | 'load'
  readonly message: string
  /** Last lines of the target's log, or of what built it; oldest first. */
  readonly logTail: readonly string[]
}

/** One timed start of a container under the case's limits. */
export interface ColdStart {
  /** From the container's StartedAt to the first correct answer, in microseconds. */
  readonly firstAnswerUs: number
  /** From asking the engine to start to the first correct answer, in microseconds. */
  readonly totalUs: number
}

/** One execution of load on one side of one case. */
export interface Run {
  readonly side: 'base' | 'head'
  /** Counts from 1. */
  readonly epoch: number
  /** Counts from 1 within its case, discarded runs included. */
  readonly index: number
  /** RFC 3339. */
  readonly startedAt: string
  readonly path: NetworkPath
  readonly placement: Placement
  readonly load: LoadRecord
  /** Absent for a `url` target. */
  readonly usage?: TargetUsage
  readonly host: HostUsage
  /** Set when the run does not count: it was repeated. */
  readonly discarded?: string
}

/** How the generator reached the target. */
export type NetworkPath = 'netns' | 'bridge' | 'url'

/** CPUs that the two sides of the socket were pinned to; empty means not pinned. */
export interface Placement {
  readonly targetCpus: readonly number[]
  readonly generatorCpus: readonly number[]
}

/** Kinds of failed requests. `lost` are requests whose connection went away unanswered without an error. */
export const FAILURE_KINDS = ['status', 'timeout', 'connect', 'reset', 'lost', 'other'] as const
export type FailureKind = (typeof FAILURE_KINDS)[number]

/** What an engine saw, counted by us. Requests belong to the window in which they were sent. */
export interface LoadRecord {
  readonly engine: { readonly name: EngineName; readonly version: string }
  /** Length of the measuring window in microseconds. */
  readonly windowUs: number
  /** Requests sent inside the window: ok + failures + unanswered. */
  readonly sent: number
  /** Of those, answered with success, be it after the window's end. */
  readonly ok: number
  /** Of those, failed, by kind. */
  readonly failures: Readonly<Record<FailureKind, number>>
  /** Of those, without an outcome when the run ended. */
  readonly unanswered: number
  /** Successful answers that arrived inside the window, whenever sent: throughput is this over the window. */
  readonly completedOk: number
  /** Answers by exact status, of requests sent in the window. */
  readonly statuses: Readonly<Record<string, number>>
  readonly bytesIn: number
  readonly bytesOut: number
  /** Time to open a TCP connection, of those opened inside the window: none where all are kept. */
  readonly connect: LatencyRecord
  /** Latency of successes and of timeouts (as the timeout), of requests sent in the window. */
  readonly latency: LatencyRecord
  /** Per request name: the same counts, in the plan's order. */
  readonly requests: readonly RequestRecord[]
  readonly generator: {
    /** CPU time that the generator used inside the window, in microseconds. */
    readonly cpuUs: number
    /** Cores that it can use at most (autocannon: 1). */
    readonly cores: number
  }
}

export interface RequestRecord {
  readonly name: string
  readonly sent: number
  readonly ok: number
  readonly latency: LatencyRecord
}

/** A latency distribution in microseconds. */
export interface LatencyRecord {
  readonly count: number
  readonly source: 'samples' | 'histogram' | 'summary'
  /** What the engine did about coordinated omission. */
  readonly omission: 'not-corrected' | 'intended-start' | 'engine-altered'
  readonly resolutionUs: number
  readonly sumUs: number
  readonly sumSquaresUs: number
  /** HDR histogram, V2 compressed, base64; 3 significant digits, values in microseconds; empty when `count` is 0. */
  readonly histogram: string
}

/** Differences of the target's cgroup counters over the measuring window, and its utilisation over time. */
export interface TargetUsage {
  /** Wall time between the two readings, in microseconds. */
  readonly wallUs: number
  readonly cpuUs: number
  readonly periods: number
  readonly throttledPeriods: number
  readonly throttledUs: number
  /** Highest memory use since the container's start, page cache included. */
  readonly memoryPeakBytes?: number
  readonly oomKills: number
  /** About ten readings a second over the window. */
  readonly timeline: readonly UsageSample[]
}

export interface UsageSample {
  /** Microseconds since the first reading. */
  readonly atUs: number
  /** CPU time used since the first reading, in microseconds. */
  readonly cpuUs: number
  /** Memory in use less inactive file cache. */
  readonly memoryBytes: number
}

/** What the rest of the machine did during the window, in microseconds of CPU time. */
export interface HostUsage {
  /** How long the host was awaited idle before the run, in milliseconds. */
  readonly idleWaitMs: number
  /** False when it was not idle when the wait ended. */
  readonly idle: boolean
  /** CPU time used by neither target nor generator nor us, on all cores. */
  readonly foreignUs: number
  /** The same on the target's cores; absent when it is not pinned. */
  readonly foreignOnTargetUs?: number
  /** CPU time that the hypervisor gave to others, on the target's cores, or on all when it is not pinned. */
  readonly stealUs: number
  readonly wallUs: number
}
