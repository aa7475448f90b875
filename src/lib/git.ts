import type { Revision } from '../model/results.ts'
import { CommandError, exec } from './exec.ts'

/** The commit that a folder is at; undefined outside a repository, without commits or without git. */
export async function readRevision(cwd: string): Promise<Revision | undefined> {
  const git = (...args: string[]) => exec('git', args, { cwd, timeoutMs: 10_000 })
  try {
    const sha = await git('rev-parse', 'HEAD')
    const branch = await git('rev-parse', '--abbrev-ref', 'HEAD')
    const changes = await git('status', '--porcelain')
    return {
      sha: sha.trim(),
      dirty: changes.trim() !== '',
      ...(branch === 'HEAD' ? {} : { branch: branch.trim() }),
    }
  } catch (error) {
    if (error instanceof CommandError) return undefined
    throw error
  }
}
