import type { Engine } from '../engine/engine.ts'
import { messageOf } from '../lib/error.ts'
import type { Case } from '../model/plan.ts'
import type { CaseResult, ColdStart, Failure, Run } from '../model/results.ts'
import type { Target } from '../model/target.ts'
import { judgeRun } from '../stats/validity.ts'
import type { Host } from './host.ts'
import { awaitReady, CaseError, prepareService, verifyAnswers } from './probe.ts'
import type { OnProgress } from './progress.ts'
import { type Clock, measureRun, warmUp } from './run.ts'
import type { Service, StartService } from './service.ts'

/** What a case is measured with; tests put fakes here. */
export interface Lab {
  readonly host: Host
  readonly startService: StartService
  readonly engine: (name: Case['engine']) => Engine
  readonly clock: Clock
  readonly onProgress: OnProgress
  readonly signal: AbortSignal
}

/** Runs that the host spoilt are repeated so many times a case, then they stand, labelled. */
const MAX_REPEATS = 3
/** Cold starts that take this long together are enough. */
const COLD_START_BUDGET_MS = 60_000

/** Measures one case: starts, readiness, preparation, checks, warm-up, runs. Never throws for what the target does. */
export async function measureCase(
  lab: Lab,
  target: Target,
  benchCase: Case,
  imageId: string | undefined,
): Promise<CaseResult> {
  const coldStarts: ColdStart[] = []
  const runs: Run[] = []
  const attempt = async (): Promise<Failure | undefined> => {
    const failure = await timeExtraStarts(lab, target, benchCase, imageId, coldStarts)
    return failure ?? measureService(lab, target, benchCase, imageId, coldStarts, runs)
  }
  const failure = await attempt()
  return { id: benchCase.id, coldStarts, runs, ...(failure === undefined ? {} : { failure }) }
}

/** All cold starts but the last, which is that of the measured container. */
async function timeExtraStarts(
  lab: Lab,
  target: Target,
  benchCase: Case,
  imageId: string | undefined,
  coldStarts: ColdStart[],
): Promise<Failure | undefined> {
  if (target.source.kind === 'url') return undefined
  const deadline = lab.clock.elapsedMs() + COLD_START_BUDGET_MS
  for (let i = 1; i < benchCase.coldStarts && lab.clock.elapsedMs() < deadline; i += 1) {
    lab.onProgress({ kind: 'step', title: `cold start ${i} of ${benchCase.coldStarts}` })
    const failure = await withService(lab, target, benchCase, imageId, async (service) => {
      coldStarts.push(...(await timeStart(lab, service, target, benchCase)))
    })
    if (failure !== undefined) return failure
  }
  return undefined
}

async function measureService(
  lab: Lab,
  target: Target,
  benchCase: Case,
  imageId: string | undefined,
  coldStarts: ColdStart[],
  runs: Run[],
): Promise<Failure | undefined> {
  const engine = lab.engine(benchCase.engine)
  return withService(lab, target, benchCase, imageId, async (service) => {
    const { signal } = lab
    lab.onProgress({ kind: 'step', title: 'start' })
    const starts = await timeStart(lab, service, target, benchCase)
    if (benchCase.coldStarts > 0) coldStarts.push(...starts)

    // Filling and warming under a small quota would take minutes and leave compilers cold.
    await service.setCpus(undefined)
    lab.onProgress({ kind: 'step', title: 'prepare' })
    await prepareService(service, target.prepare, signal)
    await verifyAnswers(service, target, benchCase.requests, signal)
    lab.onProgress({ kind: 'step', title: 'warm-up' })
    await warmUp(service, engine, benchCase, signal)
    await service.setCpus(benchCase.limits.cpus)

    let repeats = 0
    for (let counted = 0; counted < benchCase.runs; ) {
      lab.onProgress({
        kind: 'step',
        title: `run ${counted + 1} of ${benchCase.runs}${repeats > 0 ? `, ${repeats} repeated` : ''}`,
      })
      const run = await measureRun(service, engine, lab.host, benchCase, runs.length + 1, lab.clock, signal)
      const end = await service.ended()
      if (end !== undefined) {
        runs.push({ ...run, discarded: `the target ${end}` })
        throw new CaseError('load', `the target ${end} under load`)
      }
      const { retry } = judgeRun(run, benchCase)
      if (retry !== undefined && repeats < MAX_REPEATS) {
        repeats += 1
        runs.push({ ...run, discarded: retry })
        continue
      }
      counted += 1
      runs.push(run)
    }
  })
}

async function timeStart(
  lab: Lab,
  service: Service,
  target: Target,
  benchCase: Case,
): Promise<readonly ColdStart[]> {
  const readyAtMs = await awaitReady(service, target.ready, benchCase.requests[0], lab.signal)
  if (service.started === undefined) return []
  const { requestedAtMs, startedAtMs } = service.started
  return [
    {
      firstAnswerUs: Math.round((readyAtMs - startedAtMs) * 1000),
      totalUs: Math.round((readyAtMs - requestedAtMs) * 1000),
    },
  ]
}

/** Images that start as root and give it up fail without the capabilities for that, in words of their own. */
function hintFor(logTail: readonly string[]): string {
  const refused = logTail.some((line) => /operation not permitted|permission denied|EPERM|EACCES/i.test(line))
  return refused
    ? ' (it runs without Linux capabilities; those that it needs can be named: see `capabilities` of targets)'
    : ''
}

/** Starts a service for `use` and turns what goes wrong into a failure with the tail of the target's log. */
async function withService(
  lab: Lab,
  target: Target,
  benchCase: Case,
  imageId: string | undefined,
  use: (service: Service) => Promise<void>,
): Promise<Failure | undefined> {
  let service: Service
  try {
    service = await lab.startService(target, benchCase, imageId)
  } catch (error) {
    lab.signal.throwIfAborted()
    return { stage: 'start', message: messageOf(error), logTail: [] }
  }
  await using scope = service
  try {
    await use(scope)
    return undefined
  } catch (error) {
    lab.signal.throwIfAborted()
    // A container that is gone has no log any more; what happened first is what counts.
    const logTail = await scope.logTail().catch(() => [])
    if (error instanceof CaseError)
      return { stage: error.stage, message: error.message + hintFor(logTail), logTail }
    const end = await scope.ended().catch(() => undefined)
    return {
      stage: 'load',
      message: end === undefined ? messageOf(error) : `the target ${end}`,
      logTail,
    }
  }
}
