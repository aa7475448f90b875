import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { hasCode, messageOf, UserError } from '../lib/error.ts'
import type { Results } from '../model/results.ts'
import { parseResults, renderResults } from '../report/results-file.ts'

const RESULTS_FILE = 'results.json'
const REPORT_FILE = 'report.md'
/** Written and removed before anything is measured, to know that results can be. */
const PROBE_FILE = '.bench-action'

/** The folder that results and reports are written to. */
export class OutputFolder {
  readonly path: string

  private constructor(path: string) {
    this.path = path
  }

  /** Makes the folder. @throws UserError when that is not possible, or when nothing can be written to it */
  static async open(path: string): Promise<OutputFolder> {
    const folder = new OutputFolder(path)
    try {
      await mkdir(path, { recursive: true })
      await writeFile(join(path, PROBE_FILE), '')
      await rm(join(path, PROBE_FILE))
    } catch (error) {
      throw new UserError(`--out ${path}: cannot be written: ${messageOf(error)}`)
    }
    for (const file of [folder.resultsPath, folder.reportPath]) {
      const found = await stat(file).catch(() => undefined)
      if (found?.isDirectory()) throw new UserError(`--out ${path}: ${file} is a folder`)
    }
    return folder
  }

  get resultsPath(): string {
    return join(this.path, RESULTS_FILE)
  }

  get reportPath(): string {
    return join(this.path, REPORT_FILE)
  }

  /** Replaces the document at once, so that a killed process leaves the former one whole. */
  async saveResults(results: Results): Promise<void> {
    await replaceFile(this.resultsPath, renderResults(results))
  }

  async saveReport(markdown: string): Promise<void> {
    await replaceFile(this.reportPath, markdown)
  }

  /**
   * Puts the results of a run that was killed half-way out of the way of the next one.
   * @returns what to tell the user; undefined when the last run ended properly or there was none
   */
  async keepInterrupted(): Promise<string | undefined> {
    const json = await readFile(this.resultsPath, 'utf8').catch((error) => {
      if (hasCode(error, 'ENOENT')) return undefined
      throw error
    })
    if (json === undefined) return undefined
    let last: Results
    try {
      last = parseResults(json, this.resultsPath)
    } catch (error) {
      if (!(error instanceof UserError)) throw error
      return `${this.resultsPath} is not a results document of this version and will be replaced`
    }
    if (last.finishedAt !== undefined) return undefined
    const kept = join(this.path, `interrupted-${last.startedAt.replace(/[^\w-]/g, '-')}.json`)
    await rename(this.resultsPath, kept)
    return `the last run was interrupted after ${last.cases.length} of ${last.plan.cases.length} cases; what it measured is kept: bench-action report ${kept}`
  }
}

async function replaceFile(path: string, text: string): Promise<void> {
  const fresh = `${path}.new`
  await writeFile(fresh, text)
  await rename(fresh, path)
}
