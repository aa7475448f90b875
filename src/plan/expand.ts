import { formatSize } from '../lib/units.ts'
import type { Case, ConnectionPolicy, EngineName, Stop, WeightedRequest } from '../model/plan.ts'
import type { Target } from '../model/target.ts'

/** A scenario whose values are resolved and whose lists still stand. */
export interface Sweep {
  readonly scenario: string
  /** Scenario file as the user named it. */
  readonly file: string
  readonly targets: readonly Target[]
  readonly engines: readonly EngineName[]
  readonly requests: readonly [WeightedRequest, ...WeightedRequest[]]
  readonly connections: readonly number[]
  readonly stop: Stop
  readonly warmupMs: number
  readonly connection: ConnectionPolicy
  readonly timeoutMs: number
  /** In bytes; `undefined` is no limit. */
  readonly memories: readonly (number | undefined)[]
  /** In cores; `undefined` is no limit. */
  readonly cpus: readonly (number | undefined)[]
  readonly periodUs: number
  readonly runs: number
  readonly coldStarts: number
}

/** The cells of a sweep, in the order of target, engine, connections, memory, cpus, each as listed. */
export function expandSweep(sweep: Sweep): Case[] {
  return sweep.targets.flatMap((target) =>
    sweep.engines.flatMap((engine) =>
      sweep.connections.flatMap((connections) =>
        sweep.memories.flatMap((memoryBytes) =>
          sweep.cpus.map((cpus): Case => {
            const { scenario, file, requests, stop, warmupMs, connection, timeoutMs, runs } = sweep
            return {
              id: buildCaseId({ scenario, target: target.name, engine, connections, cpus, memoryBytes }),
              scenario,
              file,
              target: target.name,
              engine,
              requests,
              load: { model: 'closed', connections, stop, warmupMs, connection, timeoutMs },
              limits: {
                ...(cpus === undefined ? {} : { cpus }),
                ...(memoryBytes === undefined ? {} : { memoryBytes }),
                periodUs: sweep.periodUs,
              },
              runs,
              coldStarts: target.source.kind === 'url' ? 0 : sweep.coldStarts,
            }
          }),
        ),
      ),
    ),
  )
}

/** What tells one case from another in a plan. */
export interface CaseKey {
  readonly scenario: string
  readonly target: string
  readonly engine: EngineName
  readonly connections: number
  readonly cpus: number | undefined
  readonly memoryBytes: number | undefined
}

/** The stable id of a case: `hello/hello/autocannon/c16/cpus-0.25`, with `/mem-512MB` when memory is limited, and `unlimited` for the cpus when they are not. */
export function buildCaseId(key: CaseKey): string {
  return [
    key.scenario,
    key.target,
    key.engine,
    `c${key.connections}`,
    key.cpus === undefined ? 'unlimited' : `cpus-${key.cpus}`,
    ...(key.memoryBytes === undefined ? [] : [`mem-${formatSize(key.memoryBytes)}`]),
  ].join('/')
}
