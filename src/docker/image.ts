import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CommandError, exec } from '../lib/exec.ts'
import { temporaryFolder } from '../lib/session.ts'
import type { ImageRecord } from '../model/results.ts'
import type { Target } from '../model/target.ts'
import { apiStatus, type Docker, LABEL } from './docker.ts'

export interface ImageOptions {
  readonly session: string
  readonly signal: AbortSignal
  /** Called with each line that the builder prints. */
  readonly onLine: (line: string) => void
}

/**
 * Builds or pulls the image of a target and says what it is; undefined for a `url` target.
 * @throws CommandError with the builder's last lines; Error when an image can neither be found nor pulled.
 */
export async function ensureImage(
  docker: Docker,
  target: Target,
  options: ImageOptions,
): Promise<ImageRecord | undefined> {
  const { source } = target
  switch (source.kind) {
    case 'url':
      return undefined
    case 'image':
      return (
        (await inspectImage(docker, target.name, source.image)) ??
        pullImage(docker, target.name, source.image, options)
      )
    case 'build': {
      const id = await buildImage(target.name, source, options)
      const record = await inspectImage(docker, target.name, id)
      if (record === undefined) throw new Error(`the image ${id} vanished after it was built`)
      return record
    }
  }
}

async function buildImage(
  name: string,
  source: { context: string; dockerfile: string; args: Readonly<Record<string, string>> },
  options: ImageOptions,
): Promise<string> {
  await using folder = await temporaryFolder(options.session)
  const idFile = join(folder.path, 'image-id')
  const buildArgs = Object.entries(source.args).flatMap(([key, value]) => ['--build-arg', `${key}=${value}`])
  const args = [
    'build',
    // The builder of old leaves the container of a step that failed.
    '--force-rm',
    ...['--file', source.dockerfile],
    ...['--iidfile', idFile],
    ...['--tag', `bench-action/${name}:latest`],
    ...['--label', `${LABEL}.target=${name}`],
    ...buildArgs,
    source.context,
  ]
  await exec('docker', args, { ...options, env: await builderEnvironment() })
  return (await readFile(idFile, 'utf8')).trim()
}

/**
 * Clients below 23 use BuildKit only when asked; from 23 on it is the default wherever its plugin is installed,
 * and asking for it without the plugin is an error.
 */
async function builderEnvironment(): Promise<Record<string, string>> {
  if (process.env.DOCKER_BUILDKIT !== undefined) return {}
  const version = await exec('docker', ['version', '--format', '{{.Client.Version}}']).catch((error) => {
    if (error instanceof CommandError) return ''
    throw error
  })
  return Number.parseInt(version, 10) < 23 ? { DOCKER_BUILDKIT: '1' } : {}
}

async function pullImage(
  docker: Docker,
  target: string,
  image: string,
  options: ImageOptions,
): Promise<ImageRecord> {
  await exec('docker', ['pull', '--quiet', image], options)
  const record = await inspectImage(docker, target, image)
  if (record === undefined) throw new Error(`the image ${image} is not there after it was pulled`)
  return record
}

async function inspectImage(docker: Docker, target: string, image: string): Promise<ImageRecord | undefined> {
  try {
    const { Id, Size } = await docker.client.getImage(image).inspect()
    return { target, id: Id, sizeBytes: Size }
  } catch (error) {
    if (apiStatus(error) === 404) return undefined
    throw error
  }
}
