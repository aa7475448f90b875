import type Dockerode from 'dockerode'
import { messageOf, UserError } from '../lib/error.ts'
import { CommandError, exec } from '../lib/exec.ts'

/** A connected Docker Engine and what it says of itself. */
export interface Docker {
  readonly client: Dockerode
  readonly info: DockerInfo
}

export interface DockerInfo {
  readonly version: string
  readonly storageDriver: string
  readonly cgroupDriver: string
  readonly cgroupVersion: 1 | 2
}

/** Label on everything that we create; its value is the session, see `newSession`. */
export const LABEL = 'bench-action'

/**
 * Connects to the engine that the `docker` command would use: DOCKER_HOST, else the current context, else the default socket.
 * @throws UserError when no engine answers, or it is reached by SSH.
 */
export async function connectDocker(): Promise<Docker> {
  const host = process.env.DOCKER_HOST ?? (await contextHost())
  // Counters are read from this machine's files, and the bundle holds no SSH client.
  if (host?.startsWith('ssh:') === true) {
    throw new UserError(
      `Docker at ${host} is on another machine; bench-action needs one on its own: unset DOCKER_HOST or the context.`,
    )
  }
  // Loading the client takes a while; commands that need no Docker shall not pay it.
  const { default: Client } = await import('dockerode')
  if (host !== undefined) process.env.DOCKER_HOST = host
  const client = new Client()
  try {
    const [version, info] = await Promise.all([client.version(), client.info()])
    return {
      client,
      info: {
        version: version.Version,
        storageDriver: info.Driver,
        cgroupDriver: info.CgroupDriver,
        cgroupVersion: info.CgroupVersion === '2' ? 2 : 1,
      },
    }
  } catch (error) {
    const where = host ?? 'unix:///var/run/docker.sock'
    const why = messageOf(error)
    throw new UserError(
      `Docker does not answer at ${where}: ${why}. Start it (systemctl start docker), or run ./script/bootstrap, or set DOCKER_HOST.`,
    )
  }
}

async function contextHost(): Promise<string | undefined> {
  if (process.env.DOCKER_CONTEXT === undefined && !(await hasDockerConfig())) return undefined
  try {
    const host = await exec('docker', ['context', 'inspect', '--format', '{{.Endpoints.docker.Host}}'])
    return host.trim() === '' ? undefined : host.trim()
  } catch (error) {
    // Without a docker command there are no contexts: the default socket it is.
    if (error instanceof CommandError) return undefined
    throw error
  }
}

async function hasDockerConfig(): Promise<boolean> {
  const { access } = await import('node:fs/promises')
  const { homedir } = await import('node:os')
  const { join } = await import('node:path')
  const path = join(process.env.DOCKER_CONFIG ?? join(homedir(), '.docker'), 'config.json')
  return access(path).then(
    () => true,
    () => false,
  )
}

/** HTTP status of an error of the engine's API, if it is one. */
export function apiStatus(error: unknown): number | undefined {
  if (typeof error !== 'object' || error === null || !('statusCode' in error)) return undefined
  return typeof error.statusCode === 'number' ? error.statusCode : undefined
}
