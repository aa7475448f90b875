import { randomInt } from 'node:crypto'
import { dockerServices } from '../bench/docker-service.ts'
import { readEnvironment } from '../bench/environment.ts'
import { linuxHost } from '../bench/host.ts'
import { type Runner, runPlan } from '../bench/runner.ts'
import type { StartService } from '../bench/service.ts'
import { startUrl } from '../bench/url-service.ts'
import { connectDocker, type Docker } from '../docker/docker.ts'
import { ensureImage } from '../docker/image.ts'
import { detectNetnsAccess } from '../docker/netns.ts'
import { autocannonEngine } from '../engine/autocannon.ts'
import { readRevision } from '../lib/git.ts'
import { newSession } from '../lib/session.ts'
import { VERSION } from '../lib/version.ts'
import type { Plan } from '../model/plan.ts'
import type { CaseResult, Results } from '../model/results.ts'
import type { Target } from '../model/target.ts'
import { loadPlan } from '../plan/load.ts'
import type { Overrides } from '../plan/overrides.ts'
import { buildReport } from '../report/build.ts'
import { formatCount, formatLatency } from '../report/format.ts'
import { renderMarkdown } from '../report/markdown.ts'
import { OutputFolder } from '../sink/files.ts'
import { type Output, openProgress, printReport } from '../sink/terminal.ts'
import { summarizeCase } from '../stats/summary.ts'

export interface RunOptions {
  readonly files: readonly string[]
  readonly overrides: Overrides
  /** Folder for `results.json` and `report.md`. */
  readonly out: string
  readonly verbose: boolean
}

/** Where a command talks to. */
export interface Streams {
  /** For the outcome. */
  readonly out: Output
  /** For progress and messages. */
  readonly log: Output
}

/**
 * Measures scenarios, prints the report and writes it with the results.
 * @returns false when some case has no numbers
 * @throws UserError for faulty scenarios, a missing Docker or an output folder that cannot be written
 */
export async function run(options: RunOptions, streams: Streams, signal: AbortSignal): Promise<boolean> {
  const host = linuxHost()
  const plan = loadPlan(options.files, options.overrides, {
    cores: host.topology.cpus.length,
    cwd: process.cwd(),
    seed: randomInt(2 ** 32),
  })
  const folder = await OutputFolder.open(options.out)
  const interrupted = await folder.keepInterrupted()
  const docker = needsDocker(plan) ? await connectDocker() : undefined
  const session = newSession()
  const progress = openProgress(streams.log, options.verbose, () => performance.now())
  let results: Results
  try {
    if (interrupted !== undefined) progress.onProgress({ kind: 'warning', text: interrupted })
    const startService: StartService =
      docker === undefined
        ? startUrl
        : dockerServices({ docker, host, session, netns: await detectNetnsAccess() })
    const runner: Runner = {
      lab: {
        host,
        startService,
        engine: () => autocannonEngine,
        clock: { now: () => new Date(), elapsedMs: () => performance.now() },
        onProgress: progress.onProgress,
        signal,
      },
      ensureImage: (target) => ensureImageOf(docker, target, session, signal, progress.onProgress),
      save: (snapshot) => folder.saveResults(snapshot),
      describeOutcome: (result) => describeOutcome(plan, result),
      version: VERSION,
      environment: readEnvironment(docker?.info),
      revision: await readRevision(process.cwd()),
    }
    results = await runPlan(plan, runner)
  } finally {
    progress.close()
  }
  const report = buildReport(results)
  printReport(report, streams.out)
  await folder.saveReport(renderMarkdown(report))
  streams.log.write(`\nwrote ${folder.resultsPath} and ${folder.reportPath}\n`)
  return results.cases.every((result) => outcomeOf(plan, result).state.kind === 'measured')
}

function needsDocker(plan: Plan): boolean {
  return plan.targets.some(({ source }) => source.kind !== 'url')
}

async function ensureImageOf(
  docker: Docker | undefined,
  target: Target,
  session: string,
  signal: AbortSignal,
  onProgress: Runner['lab']['onProgress'],
): ReturnType<Runner['ensureImage']> {
  if (docker === undefined) return undefined
  return ensureImage(docker, target, {
    session,
    signal,
    onLine: (line) => onProgress({ kind: 'build-line', line }),
  })
}

function outcomeOf(plan: Plan, result: CaseResult): ReturnType<typeof summarizeCase> {
  const benchCase = plan.cases.find(({ id }) => id === result.id)
  if (benchCase === undefined) throw new Error(`the plan has no case ${result.id}`)
  return summarizeCase(benchCase, result, undefined)
}

function describeOutcome(plan: Plan, result: CaseResult): string {
  const { state, metrics } = outcomeOf(plan, result)
  switch (state.kind) {
    case 'failed':
      return `${state.failure.stage}: ${state.failure.message}`
    case 'invalid':
      return `invalid: ${state.reason}`
    case 'measured': {
      const throughput = metrics.get('throughput')?.value
      const p50 = metrics.get('latency_p50')?.value
      const parts = [
        throughput === undefined ? '' : `${formatCount(throughput)} req/s`,
        p50 === undefined ? '' : `p50 ${formatLatency(p50)}`,
      ]
      return parts.filter((part) => part !== '').join(', ')
    }
  }
}
