import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { hasCode, messageOf, UserError } from '../lib/error.ts'
import { buildReport } from '../report/build.ts'
import { renderMarkdown } from '../report/markdown.ts'
import { parseResults } from '../report/results-file.ts'
import type { Output } from '../sink/terminal.ts'

/**
 * Rebuilds a report from saved results: as Markdown on `output`, or into a file.
 * @throws UserError when the file cannot be read or is no results document
 */
export async function report(file: string, target: string | undefined, output: Output): Promise<void> {
  const json = await readFile(file, 'utf8').catch((error) => {
    const missing = hasCode(error, 'ENOENT')
    throw new UserError(missing ? `${file}: does not exist` : `${file}: cannot be read: ${messageOf(error)}`)
  })
  const markdown = renderMarkdown(buildReport(parseResults(json, file)))
  if (target === undefined) {
    output.write(markdown)
    return
  }
  try {
    await mkdir(dirname(target), { recursive: true })
    await writeFile(target, markdown)
  } catch (error) {
    throw new UserError(`--out ${target}: cannot be written: ${messageOf(error)}`)
  }
}
