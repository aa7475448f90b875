import { createInterface } from 'node:readline'
import { finished } from 'node:stream/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { execa } from 'execa'

/** One execution of a generator's program. */
export interface ProcessJob {
  /** Program and arguments, a pinning prefix included; no shell is involved. */
  readonly argv: readonly [string, ...string[]]
  /** What messages call the program. */
  readonly name: string
  /** Text for stdin. When held, stdin stays open until the process ends: a child that sees its end knows that we are gone. */
  readonly input?: { readonly text: string; readonly hold: boolean }
  /** The process is ended after so many milliseconds: SIGTERM, and SIGKILL when that does not help. */
  readonly timeoutMs: number
  readonly signal: AbortSignal
  /** Called for each line of stdout, which then is not kept. What it throws ends the process and is thrown on. */
  readonly onLine?: (line: string) => void
  /** More stdout than this, in bytes, ends the process. @default 67108864 */
  readonly maxOutputBytes?: number
  /** Time from SIGTERM to SIGKILL in milliseconds. @default 2000 */
  readonly forceKillAfterMs?: number
}

/** How a process ended by itself. */
export interface ProcessOutcome {
  readonly exitCode: number
  /** Empty when `onLine` took the lines. */
  readonly stdout: string
  /** Last lines, oldest first. */
  readonly stderrTail: readonly string[]
}

const TAIL_LINES = 20
const TAIL_BYTES = 16_384
const DEFAULT_MAX_OUTPUT_BYTES = 64 * 1_024 * 1_024
const DEFAULT_FORCE_KILL_AFTER_MS = 2_000

/** Time after SIGKILL in which a child must be gone, in milliseconds. */
const HANG_UP_MS = 3_000

/** How long the output of a process is awaited after its exit, in milliseconds. */
const OUTPUT_END_MS = 1_000

/**
 * Runs one generator process to its end. Its exit code is handed over, not judged: for most generators it says nothing.
 * @throws Error when it cannot be started, overruns its time or its output, or dies of a signal.
 * @throws the signal's reason when that was aborted.
 */
export async function runProcess(job: ProcessJob): Promise<ProcessOutcome> {
  job.signal.throwIfAborted()
  const [file, ...args] = job.argv
  const stop = new AbortController()
  const child = execa(file, args, {
    stdin: job.input === undefined ? 'ignore' : 'pipe',
    // An open pipe that nobody reads would end the child by filling up, so we read both ourselves, capped.
    buffer: false,
    reject: false,
    timeout: job.timeoutMs,
    cancelSignal: AbortSignal.any([job.signal, stop.signal]),
    killSignal: 'SIGTERM',
    forceKillAfterDelay: job.forceKillAfterMs ?? DEFAULT_FORCE_KILL_AFTER_MS,
  })

  let fault: { readonly error: unknown } | undefined
  const endWith = (error: unknown): void => {
    fault ??= { error }
    stop.abort()
  }

  // Signals do not reach a child behind sudo, which runs as root; the end of its stdin does.
  const overdue = Promise.withResolvers<never>()
  let overdueTimer: NodeJS.Timeout | undefined
  const hangUp = (): void => {
    child.stdin?.destroy()
    overdueTimer ??= setTimeout(
      () => overdue.reject(new Error(`${job.name} could not be ended`)),
      (job.forceKillAfterMs ?? DEFAULT_FORCE_KILL_AFTER_MS) + HANG_UP_MS,
    )
  }
  const stopped = AbortSignal.any([job.signal, stop.signal])
  stopped.addEventListener('abort', hangUp, { once: true })
  const timeout = setTimeout(hangUp, job.timeoutMs)

  // The child may die before it has read its input; its exit code and stderr tell more than our EPIPE.
  child.stdin?.on('error', () => {})
  if (job.input?.hold === true) child.stdin?.write(job.input.text)
  else if (job.input !== undefined) child.stdin?.end(job.input.text)

  const kept: Buffer[] = []
  let bytes = 0
  const max = job.maxOutputBytes ?? DEFAULT_MAX_OUTPUT_BYTES
  child.stdout.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes > max) endWith(new Error(`${job.name} wrote more than ${max} bytes to stdout`))
    else if (job.onLine === undefined) kept.push(chunk)
  })
  const { onLine } = job
  if (onLine !== undefined) {
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (fault !== undefined) return
      try {
        onLine(line)
      } catch (error) {
        endWith(error)
      }
    })
  }
  let tail = ''
  child.stderr.on('data', (chunk: Buffer) => {
    tail = (tail + chunk.toString()).slice(-TAIL_BYTES)
  })

  const outputEnded = Promise.allSettled([finished(child.stdout), finished(child.stderr)])
  const result = await Promise.race([child, overdue.promise]).finally(() => {
    stopped.removeEventListener('abort', hangUp)
    clearTimeout(timeout)
    clearTimeout(overdueTimer)
  })
  child.stdin?.destroy()
  // Of a killed `sudo` or `nsenter`, a grandchild may be left that keeps the pipes open.
  await Promise.race([outputEnded, delay(OUTPUT_END_MS, undefined, { ref: false })])
  const stderrTail = tail
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line !== '')
    .slice(-TAIL_LINES)

  if (fault !== undefined) throw fault.error
  if (result.timedOut) {
    throw processError(`${job.name} ran longer than ${job.timeoutMs / 1_000} s and was killed`, stderrTail)
  }
  job.signal.throwIfAborted()
  if (result.signal !== undefined) {
    throw processError(`${job.name} was ended by ${result.signal}`, stderrTail)
  }
  if (result.exitCode === undefined) {
    throw processError(`${job.name} cannot be started: ${result.originalMessage ?? file}`, stderrTail)
  }
  return { exitCode: result.exitCode, stdout: Buffer.concat(kept).toString(), stderrTail }
}

/** An Error that shows the last lines that a process wrote to stderr. */
export function processError(message: string, stderrTail: readonly string[]): Error {
  return new Error([message, ...stderrTail.map((line) => `  ${line}`)].join('\n'))
}
