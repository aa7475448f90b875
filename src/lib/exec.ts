import { execa } from 'execa'

/** A command that did not exit with 0. `tail` holds the last lines of what it printed. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
  /** The message without the lines. */
  readonly summary: string
  readonly tail: readonly string[]
  constructor(summary: string, tail: readonly string[]) {
    super([summary, ...tail.map((line) => `  ${line}`)].join('\n'))
    this.summary = summary
    this.tail = tail
  }
}

export interface ExecOptions {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
  readonly timeoutMs?: number
  /** Called with each line of stdout and stderr, in order of arrival. */
  readonly onLine?: (line: string) => void
}

const TAIL_LINES = 20

/**
 * Runs a program with an argv array, never through a shell, and returns its stdout.
 * @throws CommandError when it cannot be started, exits with another code than 0 or is killed.
 */
export async function exec(
  file: string,
  args: readonly string[],
  options: ExecOptions = {},
): Promise<string> {
  const child = execa(file, args, {
    all: true,
    stdin: 'ignore',
    reject: false,
    forceKillAfterDelay: 2000,
    maxBuffer: 64 * 1024 * 1024,
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    ...(options.env === undefined ? {} : { env: options.env }),
    ...(options.signal === undefined ? {} : { cancelSignal: options.signal }),
    ...(options.timeoutMs === undefined ? {} : { timeout: options.timeoutMs }),
  })
  if (options.onLine !== undefined) {
    for await (const line of child.iterable({ from: 'all' })) options.onLine(line)
  }
  const result = await child
  if (!result.failed) return result.stdout
  if (options.signal?.aborted === true) throw options.signal.reason
  const tail = lastLines(result.all ?? '', TAIL_LINES)
  const why =
    result.exitCode === undefined ? (result.shortMessage ?? 'it failed') : `exit code ${result.exitCode}`
  throw new CommandError(`${file} ${args[0] ?? ''} failed: ${why}`, tail)
}

/** The last `count` non-empty lines of a text, oldest first. */
export function lastLines(text: string, count: number): readonly string[] {
  return text
    .split(/\r?\n/)
    .filter((line) => line.trim() !== '')
    .slice(-count)
}
