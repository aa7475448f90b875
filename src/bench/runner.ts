import { messageOf } from '../lib/error.ts'
import { CommandError } from '../lib/exec.ts'
import type { Case, Plan } from '../model/plan.ts'
import {
  type CaseResult,
  type Environment,
  type Failure,
  type ImageRecord,
  RESULTS_VERSION,
  type Results,
  type Revision,
} from '../model/results.ts'
import type { Target } from '../model/target.ts'
import { type Lab, measureCase } from './case.ts'
import { loadTimeBefore, orderCases } from './schedule.ts'

/** What a measurement is made with and who hears of it. */
export interface Runner {
  readonly lab: Lab
  /** Builds or pulls; undefined for a `url` target. */
  readonly ensureImage: (target: Target) => Promise<ImageRecord | undefined>
  /** Called with the document after every case, and once complete. */
  readonly save: (results: Results) => Promise<void>
  readonly describeOutcome: (result: CaseResult) => string
  readonly version: string
  readonly environment: Environment
  readonly revision: Revision | undefined
}

/**
 * Measures every case of a plan, one after the other in the schedule's order, and saves after each; the document has
 * them in the plan's order. A case that fails does not stop the others.
 * @throws the signal's reason when aborted; what was measured until then is saved.
 */
export async function runPlan(plan: Plan, runner: Runner): Promise<Results> {
  const { lab, save } = runner
  const images: ImageRecord[] = []
  const cases: CaseResult[] = []
  const base = {
    version: RESULTS_VERSION,
    tool: { name: 'bench-action', version: runner.version },
    startedAt: lab.clock.now().toISOString(),
    ...(runner.revision === undefined ? {} : { revision: runner.revision }),
    environment: runner.environment,
    plan,
  } as const
  const planned = plan.cases.map(({ id }) => id)
  const snapshot = (): Results => ({
    ...base,
    images: [...images],
    cases: cases.toSorted((a, b) => planned.indexOf(a.id) - planned.indexOf(b.id)),
  })

  const unbuilt = await ensureImages(plan, runner, images)
  await save(snapshot())
  const order = orderCases(plan)
  for (const [index, benchCase] of order.entries()) {
    lab.signal.throwIfAborted()
    const loads = loadTimeBefore(order, index)
    lab.onProgress({
      kind: 'case',
      id: benchCase.id,
      index: index + 1,
      total: plan.cases.length,
      ...(loads === undefined ? {} : { loads }),
    })
    const result = await resultOf(plan, runner, images, unbuilt, benchCase)
    cases.push(result)
    await save(snapshot())
    lab.onProgress({
      kind: 'case-end',
      id: benchCase.id,
      outcome: runner.describeOutcome(result),
      failed: result.failure !== undefined,
    })
  }
  const results = { ...snapshot(), finishedAt: lab.clock.now().toISOString() }
  await save(results)
  return results
}

/** Fills `images`; returns why there is none, by target name. */
async function ensureImages(
  plan: Plan,
  { lab, ensureImage }: Runner,
  images: ImageRecord[],
): Promise<ReadonlyMap<string, Failure>> {
  const unbuilt = new Map<string, Failure>()
  for (const target of plan.targets) {
    if (target.source.kind === 'url') continue
    lab.onProgress({ kind: 'image', target: target.name })
    try {
      const image = await ensureImage(target)
      if (image !== undefined) images.push(image)
    } catch (error) {
      lab.signal.throwIfAborted()
      const [message, logTail] =
        error instanceof CommandError ? [error.summary, error.tail] : [messageOf(error), []]
      unbuilt.set(target.name, { stage: 'build', message, logTail })
    }
  }
  return unbuilt
}

async function resultOf(
  plan: Plan,
  { lab }: Runner,
  images: readonly ImageRecord[],
  unbuilt: ReadonlyMap<string, Failure>,
  benchCase: Case,
): Promise<CaseResult> {
  const target = plan.targets.find((candidate) => candidate.name === benchCase.target)
  if (target === undefined) throw new Error(`the plan has no target ${benchCase.target}`)
  const failure = unbuilt.get(target.name)
  if (failure !== undefined) return { id: benchCase.id, coldStarts: [], runs: [], failure }
  const image = images.find((candidate) => candidate.target === target.name)
  return measureCase(lab, target, benchCase, image?.id)
}
