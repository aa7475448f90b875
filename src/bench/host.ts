import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type CpuTopology, parseCpuList } from './placement.ts'

/** CPU time of the whole machine and of each CPU since boot, in microseconds. */
export interface CpuTimes {
  /** On all CPUs together. */
  readonly busyUs: number
  readonly stealUs: number
  /** Busy time by CPU number. */
  readonly busyByCpuUs: Readonly<Record<number, number>>
  /** Time that the hypervisor gave to others, by CPU number. */
  readonly stealByCpuUs: Readonly<Record<number, number>>
}

/** What we need to know of the machine besides our own processes. */
export interface Host {
  readonly topology: CpuTopology
  cpuTimes(): CpuTimes
  /** Waits until nobody but the target and us uses the machine much, for a bounded time. `targetCpuUs` reads the target's CPU time. */
  awaitIdle(signal: AbortSignal, targetCpuUs: () => number): Promise<IdleWait>
}

export interface IdleWait {
  readonly waitedMs: number
  /** False when the machine was not idle when the wait ended. */
  readonly idle: boolean
}

/** One jiffy as /proc/stat counts it: USER_HZ is 100 on every Linux that Docker runs on. */
const JIFFY_US = 10_000
const IDLE_WINDOW_MS = 200
const IDLE_MAX_WAIT_MS = 10_000
/** Share of one core that others may use of a machine that counts as idle. */
const IDLE_MAX_FOREIGN = 0.15

/** The Linux host we run on, from /proc and /sys. */
export function linuxHost(): Host {
  const cpuTimes = () => parseCpuTimes(readFileSync('/proc/stat', 'utf8'))
  return {
    topology: readTopology(),
    cpuTimes,
    async awaitIdle(signal, targetCpuUs) {
      const startedAt = performance.now()
      for (;;) {
        const before = cpuTimes()
        const own = process.cpuUsage()
        const targetBefore = targetCpuUs()
        await sleep(IDLE_WINDOW_MS, undefined, { signal })
        const after = cpuTimes()
        const { user, system } = process.cpuUsage(own)
        const ours = user + system + targetCpuUs() - targetBefore
        const foreign = after.busyUs - before.busyUs + after.stealUs - before.stealUs - ours
        const idle = foreign / (IDLE_WINDOW_MS * 1000) <= IDLE_MAX_FOREIGN
        const waitedMs = Math.round(performance.now() - startedAt)
        if (idle || waitedMs >= IDLE_MAX_WAIT_MS) return { waitedMs, idle }
      }
    },
  }
}

/** Parses /proc/stat (proc_stat(5)): user nice system idle iowait irq softirq steal guest guest_nice, in jiffies. */
export function parseCpuTimes(stat: string): CpuTimes {
  const busyByCpuUs: Record<number, number> = {}
  const stealByCpuUs: Record<number, number> = {}
  let totals = { busyUs: 0, stealUs: 0 }
  for (const line of stat.split('\n')) {
    const match = /^cpu(\d*)\s+(.*)$/.exec(line)
    if (match === null) continue
    const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = (match[2] ?? '')
      .split(' ')
      .map((jiffies) => Number(jiffies) * JIFFY_US)
    const busyUs = user + nice + system + irq + softirq
    if (match[1] === '') {
      totals = { busyUs, stealUs: steal }
    } else {
      busyByCpuUs[Number(match[1])] = busyUs
      stealByCpuUs[Number(match[1])] = steal
    }
  }
  return { ...totals, busyByCpuUs, stealByCpuUs }
}

function readTopology(): CpuTopology {
  const root = '/sys/devices/system/cpu'
  const cpus = parseCpuList(readFileSync(join(root, 'online'), 'utf8'))
  const allowed = allowedCpus()
  const usable = cpus.filter((cpu) => allowed.has(cpu))
  const siblings = Object.fromEntries(usable.map((cpu) => [cpu, readSiblings(root, cpu)]))
  return { cpus: usable, siblings }
}

/** A runner may itself be confined to some CPUs. */
function allowedCpus(): ReadonlySet<number> {
  const [, list = ''] = /^Cpus_allowed_list:\s*(.*)$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
  return new Set(parseCpuList(list))
}

function readSiblings(root: string, cpu: number): readonly number[] {
  try {
    return parseCpuList(readFileSync(join(root, `cpu${cpu}/topology/thread_siblings_list`), 'utf8'))
  } catch {
    // Some virtual machines hide their topology: then each CPU counts as a core.
    return [cpu]
  }
}
