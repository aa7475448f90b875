import packageJson from 'autocannon/package.json' with { type: 'json' }
import { workerScript } from '../lib/asset.ts'
import type { Load } from '../model/plan.ts'
import type { LoadRecord } from '../model/results.ts'
import type { WorkerMessage } from './autocannon-worker.ts'
import type { Engine, EngineContext, EngineJob } from './engine.ts'
import { processError, runProcess } from './process.ts'

/** Time that starting, draining and ending may take beyond the load itself, in milliseconds. */
const GRACE_MS = 30_000

/** Longest pause of the worker between two tries to connect, in milliseconds. */
const LONGEST_PAUSE_MS = 100

/**
 * autocannon, embedded in a child process of its own and repaired (`autocannon-client.ts`).
 * Closed model; one core; HTTP/1.1 over TCP or TLS; redirects are not followed.
 * A new connection costs it about 0.1 ms of CPU, twice what wrk needs: against a service that closes
 * connections and answers many of them at once, its throughput falls behind wrk's before its CPU is used up.
 */
export const autocannonEngine: Engine = {
  name: 'autocannon',
  version: async () => packageJson.version,
  run: runAutocannon,
}

async function runAutocannon(job: EngineJob, context: EngineContext): Promise<LoadRecord> {
  let record: LoadRecord | undefined
  const [file = process.execPath, ...args] = [
    ...context.prefix,
    process.execPath,
    workerScript('autocannon-worker'),
  ]
  const outcome = await runProcess({
    argv: [file, ...args],
    name: 'autocannon',
    input: { text: `${JSON.stringify(job)}\n`, hold: true },
    timeoutMs: longestRunMs(job),
    signal: context.signal,
    onLine: (line) => {
      const message = parseMessage(line)
      if (message.kind === 'window') context.onWindow(message.edge)
      else record = message.record
    },
  })
  if (outcome.exitCode !== 0) {
    throw processError(`autocannon crashed with exit code ${outcome.exitCode}`, outcome.stderrTail)
  }
  if (record === undefined) throw processError('autocannon ended without a record', outcome.stderrTail)
  return record
}

/** The longest that a run may legitimately take, in milliseconds: each answer may come just before its timeout. */
function longestRunMs({ load, settleMs }: { readonly load: Load; readonly settleMs: number }): number {
  const rounds = load.stop.kind === 'requests' ? Math.ceil(load.stop.count / load.connections) : 0
  const windowMs =
    load.stop.kind === 'duration' ? load.stop.durationMs : rounds * (load.timeoutMs + LONGEST_PAUSE_MS)
  return settleMs + windowMs + load.timeoutMs + GRACE_MS
}

function parseMessage(line: string): WorkerMessage {
  try {
    return JSON.parse(line)
  } catch {
    throw new Error(`autocannon's process said something else than a message: ${line.slice(0, 200)}`)
  }
}
