import type { HttpRequest, Target } from './target.ts'

/** Names of the load generators that this version drives. */
export const ENGINE_NAMES = ['autocannon'] as const
export type EngineName = (typeof ENGINE_NAMES)[number]

/** Everything that is going to be measured, resolved: no lists, no defaults left open. */
export interface Plan {
  /** Seed of everything random (32-bit unsigned); logged, so that a run can be repeated. */
  readonly seed: number
  readonly targets: readonly [Target, ...Target[]]
  readonly cases: readonly [Case, ...Case[]]
}

/** Target x scenario x engine x limits: one cell of the sweep. */
export interface Case {
  /** Stable over commits, e.g. `static-files/static-files/autocannon/c16/cpus-0.25`; the key under which it is stored and compared. */
  readonly id: string
  readonly scenario: string
  /** Scenario file as the user named it, for messages; absent for a scenario made from options. */
  readonly file?: string
  /** Name of a target of the plan. */
  readonly target: string
  readonly engine: EngineName
  readonly requests: readonly [WeightedRequest, ...WeightedRequest[]]
  readonly load: Load
  readonly limits: Limits
  /** Runs whose samples are reported; at least 1. */
  readonly runs: number
  /** Starts that are timed up to the first correct answer; 0 times none. */
  readonly coldStarts: number
}

/** A request of a scenario with its share of the load. */
export interface WeightedRequest extends HttpRequest {
  readonly name: string
  /** Relative frequency, integer >= 1. */
  readonly weight: number
  /** Statuses that count as success; 200-299 when absent. */
  readonly status?: readonly number[]
}

/** Closed-model load: so many connections, each sending its next request when the last was answered. */
export interface Load {
  readonly model: 'closed'
  readonly connections: number
  readonly stop: Stop
  /** Load before measuring, at full CPU, so that caches and compilers are warm. */
  readonly warmupMs: number
  readonly connection: ConnectionPolicy
  /** A request unanswered for so long is a failure. */
  readonly timeoutMs: number
}

/** A run ends after a time or after a count of answered requests. */
export type Stop =
  | { readonly kind: 'duration'; readonly durationMs: number }
  | { readonly kind: 'requests'; readonly count: number }

export type ConnectionPolicy = 'keep-alive' | 'per-request'

/** What the container may use; absent for a `url` target. */
export interface Limits {
  /** CPU time per wall time, in cores (0.05 = 5 ms of every 100 ms); absent means not limited. */
  readonly cpus?: number
  /** Memory without swap, in bytes; absent means not limited. */
  readonly memoryBytes?: number
  /** CFS period the quota is given in, in microseconds. @default 100000 */
  readonly periodUs: number
}
