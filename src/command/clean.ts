import { rm } from 'node:fs/promises'
import { findContainers } from '../docker/container.ts'
import { connectDocker } from '../docker/docker.ts'
import { findOrphanedFolders, isSessionAlive } from '../lib/session.ts'
import type { Output } from '../sink/terminal.ts'

/**
 * Removes what killed runs left: containers by label, temporary folders by name. What belongs to a run that still goes on stays.
 * @throws UserError when Docker does not answer
 */
export async function clean(output: Output): Promise<void> {
  const docker = await connectDocker()
  const containers = await findContainers(docker)
  const orphans = containers.filter(({ session }) => !isSessionAlive(session))
  for (const container of orphans) {
    await container.remove()
    output.write(`removed container ${container.name}\n`)
  }
  const folders = await findOrphanedFolders()
  for (const folder of folders) {
    await rm(folder, { recursive: true, force: true })
    output.write(`removed folder ${folder}\n`)
  }
  const kept = containers.length - orphans.length
  if (kept > 0) output.write(`kept ${kept} of a run that still goes on\n`)
  if (orphans.length + folders.length === 0) output.write('nothing to clean\n')
}
