import type { Case, Plan } from '../model/plan.ts'
import { seededRandom, shuffle } from '../stats/random.ts'
import type { LoadTime } from './progress.ts'
import { SETTLE_MS } from './run.ts'

/**
 * The cases in the order in which they are measured: shuffled by the plan's seed, so that a machine that gets slower or
 * faster meanwhile does not make a trend over the limits of a sweep.
 */
export function orderCases(plan: Plan): readonly Case[] {
  return shuffle(plan.cases, seededRandom(plan.seed))
}

/** Load that is behind us when the case of this index begins; undefined when some case counts requests. */
export function loadTimeBefore(cases: readonly Case[], index: number): LoadTime | undefined {
  const times = cases.map(loadTimeMs)
  const known = times.filter((time) => time !== undefined)
  if (known.length < times.length) return undefined
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
  return { doneMs: sum(known.slice(0, index)), totalMs: sum(known) }
}

/** How long a case is under load, in milliseconds; undefined when it counts requests. */
function loadTimeMs({ load, runs }: Case): number | undefined {
  if (load.stop.kind === 'requests') return undefined
  return load.warmupMs + runs * (load.stop.durationMs + SETTLE_MS)
}
