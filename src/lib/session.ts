import { readFileSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hasCode } from './error.ts'

const PREFIX = 'bench-action'

/**
 * One invocation of ours, as the name that everything it makes carries: `bench-action-PID-STARTTIME`.
 * A process id alone is used again; with the time that its process began it is not.
 */
export function newSession(): string {
  return `${PREFIX}-${process.pid}-${startTicks(process.pid)}`
}

/** Whether the process of a session still runs; false for a name that is no session. */
export function isSessionAlive(session: string): boolean {
  const [, pid, ticks] = new RegExp(`^${PREFIX}-(\\d+)-(\\d+)`).exec(session) ?? []
  return pid !== undefined && ticks !== undefined && startTicks(Number(pid)) === ticks
}

/** Start time of a process in clock ticks since boot: field 22 of proc_pid_stat(5). */
function startTicks(pid: number): string | undefined {
  try {
    // The second field, the program's name in parentheses, may hold blanks and parentheses itself.
    const [, fields = ''] = /^.*\) (.*)$/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? []
    return fields.split(' ')[19]
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ESRCH')) return undefined
    throw error
  }
}

/** A temporary folder that goes away with its scope, and that `clean` finds when it could not. */
export async function temporaryFolder(session: string): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), `${session}-`))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) }
}

/** Temporary folders of sessions that ended without taking them away. */
export async function findOrphanedFolders(): Promise<readonly string[]> {
  const names = await readdir(tmpdir())
  return names
    .filter(
      (name) => name.startsWith(`${PREFIX}-`) && /^bench-action-\d+-\d+-/.test(name) && !isSessionAlive(name),
    )
    .map((name) => join(tmpdir(), name))
}
