import type Dockerode from 'dockerode'
import { lastLines } from '../lib/exec.ts'
import { apiStatus, type Docker, LABEL } from './docker.ts'

/** How a container is made: unprivileged always, limited as asked. */
export interface ContainerSpec {
  readonly image: string
  /** Value of our label: whose it is, see `leftovers`. */
  readonly session: string
  readonly name: string
  readonly env: Readonly<Record<string, string>>
  readonly command?: readonly string[]
  /** Linux capabilities to keep. */
  readonly capabilities: readonly string[]
  /** Cores; absent means not limited. */
  readonly cpus?: number
  readonly periodUs: number
  readonly memoryBytes?: number
  /** Absent or empty: not pinned. */
  readonly cpuset: readonly number[]
}

/** What the engine says of a started container. */
export interface ContainerState {
  readonly running: boolean
  readonly exitCode: number
  readonly oomKilled: boolean
  /** Process id on the host; 0 when it does not run. */
  readonly pid: number
  /** RFC 3339 with nanoseconds, by the host's clock. */
  readonly startedAt: string
  /** Address on the bridge; empty when it does not run. */
  readonly address: string
}

/** Enough for any service, and an end for a fork bomb. */
const PIDS_LIMIT = 4096
const NO_LIMIT = -1

/** A container that goes away with its scope. */
export class Container implements AsyncDisposable {
  readonly #container: Dockerode.Container

  private constructor(container: Dockerode.Container) {
    this.#container = container
  }

  /** Creates a container, not started. CPU is limited by period and quota, never by NanoCPUs: only so can `setCpus` lift and lower it. */
  static async create(docker: Docker, spec: ContainerSpec): Promise<Container> {
    const container = await docker.client.createContainer({
      Image: spec.image,
      name: spec.name,
      Env: Object.entries(spec.env).map(([key, value]) => `${key}=${value}`),
      ...(spec.command === undefined ? {} : { Cmd: [...spec.command] }),
      Labels: { [LABEL]: spec.session },
      HostConfig: {
        CpuPeriod: spec.periodUs,
        CpuQuota: quotaUs(spec.cpus, spec.periodUs),
        CpusetCpus: spec.cpuset.join(','),
        // Swap would hide a service that does not fit: memory and memory-plus-swap are the same.
        ...(spec.memoryBytes === undefined ? {} : { Memory: spec.memoryBytes, MemorySwap: spec.memoryBytes }),
        CapDrop: ['ALL'],
        CapAdd: [...spec.capabilities],
        SecurityOpt: ['no-new-privileges'],
        PidsLimit: PIDS_LIMIT,
        LogConfig: { Type: 'json-file', Config: { 'max-size': '10m', 'max-file': '1' } },
      },
    })
    return new Container(container)
  }

  get id(): string {
    return this.#container.id
  }

  async start(): Promise<void> {
    await this.#container.start()
  }

  async state(): Promise<ContainerState> {
    const { State, NetworkSettings } = await this.#container.inspect()
    const network = Object.values(NetworkSettings.Networks)[0]
    return {
      running: State.Running,
      exitCode: State.ExitCode,
      oomKilled: State.OOMKilled,
      pid: State.Pid,
      startedAt: State.StartedAt,
      address: network?.IPAddress ?? '',
    }
  }

  /** Changes the CPU quota of the running container; undefined lifts it. */
  async setCpus(cpus: number | undefined, periodUs: number): Promise<void> {
    await this.#container.update({ CpuPeriod: periodUs, CpuQuota: quotaUs(cpus, periodUs) })
  }

  /**
   * Runs a command inside and returns its exit code and output.
   * @throws the signal's reason when it is aborted before the command has ended; the command may then go on
   */
  async exec(
    command: readonly string[],
    options: { readonly signal: AbortSignal },
  ): Promise<{ readonly exitCode: number; readonly output: string }> {
    const run = await this.#container.exec({
      Cmd: [...command],
      AttachStdout: true,
      AttachStderr: true,
      Tty: true,
    })
    const stream = await run.start({ Tty: true })
    const chunks: Buffer[] = []
    const hangUp = (): void => {
      stream.destroy()
    }
    options.signal.addEventListener('abort', hangUp, { once: true })
    try {
      for await (const chunk of stream) chunks.push(Buffer.from(chunk))
    } catch (error) {
      options.signal.throwIfAborted()
      throw error
    } finally {
      options.signal.removeEventListener('abort', hangUp)
    }
    options.signal.throwIfAborted()
    const { ExitCode } = await run.inspect()
    return { exitCode: ExitCode ?? -1, output: Buffer.concat(chunks).toString('utf8') }
  }

  /** The last lines of what the service printed, oldest first. */
  async logTail(lines = 20): Promise<readonly string[]> {
    const raw = await this.#container.logs({ stdout: true, stderr: true, tail: lines, follow: false })
    return lastLines(withoutFrames(raw), lines)
  }

  /** Kills and removes it with its anonymous volumes; one that is gone already is fine. */
  async [Symbol.asyncDispose](): Promise<void> {
    await removeContainer(this.#container)
  }
}

/** CFS quota in microseconds per period, rounded to whole microseconds; -1 is no limit. */
function quotaUs(cpus: number | undefined, periodUs: number): number {
  return cpus === undefined ? NO_LIMIT : Math.round(cpus * periodUs)
}

async function removeContainer(container: Dockerode.Container): Promise<void> {
  try {
    await container.remove({ force: true, v: true })
  } catch (error) {
    const status = apiStatus(error)
    // 404: gone; 409: another removal is under way.
    if (status !== 404 && status !== 409) throw error
  }
}

/** Takes the 8-byte frame headers out of a log that stdout and stderr were multiplexed into. */
function withoutFrames(raw: Buffer): string {
  const parts: Buffer[] = []
  for (let at = 0; at + 8 <= raw.length; ) {
    const length = raw.readUInt32BE(at + 4)
    parts.push(raw.subarray(at + 8, at + 8 + length))
    at += 8 + length
  }
  return Buffer.concat(parts).toString('utf8')
}

/** A container of ours that nobody holds any more. */
export interface Leftover {
  readonly id: string
  readonly name: string
  readonly session: string
  remove(): Promise<void>
}

/** All containers that carry our label, running or not. */
export async function findContainers(docker: Docker): Promise<readonly Leftover[]> {
  const found = await docker.client.listContainers({ all: true, filters: { label: [LABEL] } })
  return found.map((container) => ({
    id: container.Id,
    name: container.Names[0]?.replace(/^\//, '') ?? container.Id.slice(0, 12),
    session: container.Labels[LABEL] ?? '',
    remove: () => removeContainer(docker.client.getContainer(container.Id)),
  }))
}
