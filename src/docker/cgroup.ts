import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { hasCode } from '../lib/error.ts'

/** Counters of a control group at one moment. Times in microseconds since its creation. */
export interface CgroupCounters {
  readonly cpuUs: number
  readonly periods: number
  readonly throttledPeriods: number
  readonly throttledUs: number
  /** In use, less file cache that the kernel would drop first. */
  readonly memoryBytes: number
  /** Absent where the kernel does not keep it (v2 before Linux 5.19). */
  readonly memoryPeakBytes?: number
  readonly oomKills: number
}

/** Folders of one control group; v1 has one per controller. */
export type CgroupPaths =
  | { readonly version: 1; readonly cpu: string; readonly cpuacct: string; readonly memory: string }
  | { readonly version: 2; readonly path: string }

/** Reads the counters of a process's control group from the host's files, never from inside the container. */
export class Cgroup {
  readonly paths: CgroupPaths

  constructor(paths: CgroupPaths) {
    this.paths = paths
  }

  /**
   * The control group of a process. `root` is where `/` is, for recorded trees.
   * @throws Error when the group's files are not to be found.
   */
  static ofProcess(pid: number, root = '/'): Cgroup {
    const membership = readFileSync(join(root, 'proc', String(pid), 'cgroup'), 'utf8')
    const mounts = readFileSync(join(root, 'proc/self/mountinfo'), 'utf8')
    const paths = locateCgroup(membership, mounts)
    const cgroup = new Cgroup(
      paths.version === 2
        ? { version: 2, path: join(root, paths.path) }
        : {
            version: 1,
            cpu: join(root, paths.cpu),
            cpuacct: join(root, paths.cpuacct),
            memory: join(root, paths.memory),
          },
    )
    cgroup.read()
    return cgroup
  }

  /** Synchronous: a few small reads, so that all counters belong to one moment. */
  read(): CgroupCounters {
    return this.paths.version === 2 ? readV2(this.paths.path) : readV1(this.paths)
  }
}

/**
 * Finds a control group from `/proc/PID/cgroup` and `/proc/self/mountinfo` (formats: cgroups(7), proc(5)).
 * A hybrid host has the controllers in v1 hierarchies and an empty v2 one beside them: v1 then wins.
 * @throws Error when neither layout has the cpu controller.
 */
export function locateCgroup(membership: string, mountinfo: string): CgroupPaths {
  const groups = membership
    .trim()
    .split('\n')
    .map((line) => {
      const [, controllers = '', path = ''] = /^\d+:([^:]*):(.*)$/.exec(line) ?? []
      return { controllers: controllers.split(','), path }
    })
  const mounts = mountinfo.trim().split('\n').map(parseMount)

  const v1 = (controller: string): string | undefined => {
    const group = groups.find((candidate) => candidate.controllers.includes(controller))
    const mount = mounts.find(
      (candidate) => candidate.type === 'cgroup' && candidate.options.includes(controller),
    )
    return group && mount && join(mount.point, below(mount.root, group.path))
  }
  const cpu = v1('cpu')
  const cpuacct = v1('cpuacct')
  const memory = v1('memory')
  if (cpu !== undefined && cpuacct !== undefined && memory !== undefined) {
    return { version: 1, cpu, cpuacct, memory }
  }

  const group = groups.find((candidate) => candidate.controllers.join() === '')
  const mount = mounts.find((candidate) => candidate.type === 'cgroup2')
  if (group && mount) return { version: 2, path: join(mount.point, below(mount.root, group.path)) }
  throw new Error('no cgroup v1 or v2 hierarchy with the cpu controller is mounted')
}

interface Mount {
  readonly root: string
  readonly point: string
  readonly type: string
  readonly options: readonly string[]
}

function parseMount(line: string): Mount {
  const [left = '', right = ''] = line.split(' - ')
  const [, , , root = '/', point = '/'] = left.split(' ')
  const [type = '', , options = ''] = right.split(' ')
  return { root, point, type, options: options.split(',') }
}

/** A hierarchy mounted from a subtree shows paths below that subtree only. */
function below(mountRoot: string, path: string): string {
  if (mountRoot === '/') return path
  return path === mountRoot || path.startsWith(`${mountRoot}/`) ? path.slice(mountRoot.length) : path
}

const NS_PER_US = 1000

function readV1(paths: { cpu: string; cpuacct: string; memory: string }): CgroupCounters {
  const cpu = readKeys(join(paths.cpu, 'cpu.stat'))
  const memory = readKeys(join(paths.memory, 'memory.stat'))
  const oom = readKeys(join(paths.memory, 'memory.oom_control'))
  const inUse = readNumber(join(paths.memory, 'memory.usage_in_bytes'))
  return {
    cpuUs: readNumber(join(paths.cpuacct, 'cpuacct.usage')) / NS_PER_US,
    periods: cpu.nr_periods ?? 0,
    throttledPeriods: cpu.nr_throttled ?? 0,
    throttledUs: (cpu.throttled_time ?? 0) / NS_PER_US,
    memoryBytes: inUse - (memory.total_inactive_file ?? 0),
    memoryPeakBytes: readNumber(join(paths.memory, 'memory.max_usage_in_bytes')),
    oomKills: oom.oom_kill ?? 0,
  }
}

function readV2(path: string): CgroupCounters {
  const cpu = readKeys(join(path, 'cpu.stat'))
  const memory = readKeys(join(path, 'memory.stat'))
  const events = readKeys(join(path, 'memory.events'))
  const inUse = readNumber(join(path, 'memory.current'))
  const peak = readOptionalNumber(join(path, 'memory.peak'))
  return {
    cpuUs: cpu.usage_usec ?? 0,
    periods: cpu.nr_periods ?? 0,
    throttledPeriods: cpu.nr_throttled ?? 0,
    throttledUs: cpu.throttled_usec ?? 0,
    memoryBytes: inUse - (memory.inactive_file ?? 0),
    ...(peak === undefined ? {} : { memoryPeakBytes: peak }),
    oomKills: events.oom_kill ?? 0,
  }
}

function readNumber(path: string): number {
  return Number(readFileSync(path, 'utf8').trim())
}

function readOptionalNumber(path: string): number | undefined {
  try {
    return readNumber(path)
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}

/** Flat keyed files: one `key value` a line. */
function readKeys(path: string): Readonly<Record<string, number>> {
  const entries = readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split(' '))
  return Object.fromEntries(entries.map(([key, value]) => [key, Number(value)]))
}
