import { CommandError, exec } from '../lib/exec.ts'

/** How a process of ours gets into a container's network namespace. */
export type NetnsAccess = 'root' | 'sudo' | 'none'

/** Root alone is not enough for it: a container's root may lack the capability. */
const ENTER_OUR_OWN = ['--target', String(process.pid), '--net', '--', 'true']

/** Finds out once whether we may enter network namespaces: as root, by passwordless sudo, or not at all. */
export async function detectNetnsAccess(): Promise<NetnsAccess> {
  if (process.getuid?.() === 0) return (await succeeds('nsenter', ENTER_OUR_OWN)) ? 'root' : 'none'
  return (await succeeds('sudo', ['-n', 'nsenter', ...ENTER_OUR_OWN])) ? 'sudo' : 'none'
}

/** Argv that runs what follows it inside the network namespace of a process, as the user we are. */
export function enterNetns(access: Exclude<NetnsAccess, 'none'>, pid: number): readonly string[] {
  const enter = ['nsenter', '--target', String(pid), '--net']
  if (access === 'root') return [...enter, '--']
  const identity = ['--setuid', String(process.getuid?.()), '--setgid', String(process.getgid?.())]
  return ['sudo', '-n', '--', ...enter, ...identity, '--']
}

/** Argv that pins what follows it to CPUs; empty when there are none. */
export function pinTo(cpus: readonly number[]): readonly string[] {
  return cpus.length === 0 ? [] : ['taskset', '--cpu-list', cpus.join(',')]
}

async function succeeds(file: string, args: readonly string[]): Promise<boolean> {
  try {
    await exec(file, args, { timeoutMs: 5000 })
    return true
  } catch (error) {
    if (error instanceof CommandError) return false
    throw error
  }
}
