import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Cgroup, type CgroupCounters } from '../docker/cgroup.ts'
import { Container, type ContainerState } from '../docker/container.ts'
import type { Docker } from '../docker/docker.ts'
import { enterNetns, type NetnsAccess, pinTo } from '../docker/netns.ts'
import { hasCode } from '../lib/error.ts'
import { exec } from '../lib/exec.ts'
import type { Case } from '../model/plan.ts'
import type { Target } from '../model/target.ts'
import type { Host } from './host.ts'
import { placeSides } from './placement.ts'
import type { Service, StartService } from './service.ts'
import { startUrl } from './url-service.ts'

/** What services are started with. */
export interface ServiceEdges {
  readonly docker: Docker
  readonly host: Host
  readonly netns: NetnsAccess
  /** Value of our label on every container of this invocation. */
  readonly session: string
}

/** Starts targets as containers on the Docker Engine of this machine. */
export function dockerServices(edges: ServiceEdges): StartService {
  let count = 0
  return async (target, benchCase, imageId) => {
    if (target.source.kind === 'url') {
      await pinOurselves(edges.host.topology.cpus)
      return startUrl(target)
    }
    if (imageId === undefined) throw new Error(`no image for target ${target.name}`)
    count += 1
    return startContainer(edges, target, benchCase, imageId, `${edges.session}-${count}`)
  }
}

/** Host of a container that ended at once: nobody answers there (RFC 6761). */
const GONE = 'ended.invalid'

async function startContainer(
  edges: ServiceEdges,
  target: Target,
  benchCase: Case,
  image: string,
  name: string,
): Promise<Service> {
  const { limits } = benchCase
  const placement = placeSides(edges.host.topology, limits.cpus)
  await pinOurselves(placement.generatorCpus.length > 0 ? placement.generatorCpus : edges.host.topology.cpus)
  await using resources = new AsyncDisposableStack()
  const container = resources.use(
    await Container.create(edges.docker, {
      image,
      name,
      session: edges.session,
      env: target.env,
      capabilities: target.capabilities,
      periodUs: limits.periodUs,
      cpuset: placement.targetCpus,
      ...(target.command === undefined ? {} : { command: target.command }),
      ...(limits.cpus === undefined ? {} : { cpus: limits.cpus }),
      ...(limits.memoryBytes === undefined ? {} : { memoryBytes: limits.memoryBytes }),
    }),
  )
  const clock = await anchorClock()
  const requestedAtMs = performance.now()
  await container.start()
  const state = await container.state()
  // A process that ended at once has no namespace and no control group; `ended` then tells why.
  const cgroup = state.running && isOurs(state.pid, container.id) ? tryCgroup(state.pid) : undefined
  let last: CgroupCounters | undefined
  const scope = resources.move()
  const inside = edges.netns !== 'none' && cgroup !== undefined
  const bridgeOrigin = `http://${state.running ? state.address : GONE}:${target.port}`
  return {
    checkOrigin: bridgeOrigin,
    loadOrigin: inside ? `http://127.0.0.1:${target.port}` : bridgeOrigin,
    prefix: [
      ...(edges.netns !== 'none' && inside ? enterNetns(edges.netns, state.pid) : []),
      ...pinTo(placement.generatorCpus),
    ],
    path: inside ? 'netns' : 'bridge',
    placement,
    started: { requestedAtMs, startedAtMs: clock.toPerformanceMs(state.startedAt) },
    readCounters() {
      if (cgroup === undefined) return undefined
      try {
        last = cgroup.read()
      } catch (error) {
        // The group goes away with its last process; its last reading stands then.
        if (!hasCode(error, 'ENOENT', 'ENODEV')) throw error
      }
      return last
    },
    setCpus: (cpus) => container.setCpus(cpus, limits.periodUs),
    exec: (command, options) => container.exec(command, options),
    ended: async () => describeEnd(await container.state()),
    logTail: () => container.logTail(),
    [Symbol.asyncDispose]: () => scope.disposeAsync(),
  }
}

/**
 * An engine in another PID namespace (a remote one, or the host's seen from a container) tells process ids that are
 * somebody else's here.
 */
function isOurs(pid: number, containerId: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/cgroup`, 'utf8').includes(containerId)
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ESRCH')) return false
    throw error
  }
}

function tryCgroup(pid: number): Cgroup | undefined {
  try {
    return Cgroup.ofProcess(pid)
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ESRCH')) return undefined
    throw error
  }
}

function describeEnd(state: ContainerState): string | undefined {
  if (state.running) return undefined
  if (state.oomKilled) return 'was killed: it needed more memory than its limit'
  return `exited with code ${state.exitCode}`
}

/**
 * Our own work, small as it is, shall not run on the target's cores. What we start inherits this, so that after a
 * pinned case an unpinned one needs all CPUs back.
 */
async function pinOurselves(cpus: readonly number[]): Promise<void> {
  await exec('taskset', ['--all-tasks', '--cpu-list', '--pid', cpus.join(','), String(process.pid)])
}

/** Ties `performance.now()` to the wall clock at the moment its millisecond turns, good to some microseconds. */
async function anchorClock(): Promise<{ toPerformanceMs(rfc3339: string): number }> {
  // The turn is less than a millisecond away; yielding once keeps the event loop fair.
  await sleep(0)
  const before = Date.now()
  let wallMs = before
  while (wallMs === before) wallMs = Date.now()
  const offset = performance.now() - wallMs
  return { toPerformanceMs: (rfc3339) => parseNanoTime(rfc3339) + offset }
}

/** Milliseconds since the epoch of an RFC 3339 time with up to nine decimals, which `Date.parse` would cut to three. */
function parseNanoTime(rfc3339: string): number {
  const [, seconds = '', fraction = '0', zone = 'Z'] =
    /^(.*?)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)$/.exec(rfc3339) ?? []
  return Date.parse(`${seconds}${zone}`) + Number(`0.${fraction}`) * 1000
}
