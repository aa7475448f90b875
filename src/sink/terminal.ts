import { styleText } from 'node:util'
import { createLogUpdate } from 'log-update'
import type { OnProgress, Progress } from '../bench/progress.ts'
import { stripControls } from '../report/escape.ts'
import { formatDuration } from '../report/format.ts'
import { renderTable } from '../report/markdown.ts'
import type { Report } from '../report/report.ts'

/** The part of a terminal or log that we write to. */
export type Output = NodeJS.WriteStream

/** Shows progress until it is closed: one line that is kept up to date on a terminal, one line a step in a log. */
export interface ProgressSink {
  readonly onProgress: OnProgress
  /** Takes the progress line away. */
  close(): void
}

/** @param verbose whether the builder's output is shown */
export function openProgress(output: Output, verbose: boolean, now: () => number): ProgressSink {
  return output.isTTY === true ? terminalProgress(output, verbose, now) : logProgress(output, verbose)
}

const REDRAW_MS = 500

function terminalProgress(output: Output, verbose: boolean, now: () => number): ProgressSink {
  const line = createLogUpdate(output)
  const estimate = new Estimate(now)
  let state = ''
  let step = ''
  const draw = (): void => {
    if (state !== '')
      line(styleText('cyan', [state, step, estimate.left()].filter((part) => part !== '').join(' · ')))
  }
  const persist = (text: string): void => {
    line.clear()
    output.write(`${text}\n`)
    draw()
  }
  const timer = setInterval(draw, REDRAW_MS)
  return {
    onProgress(progress) {
      estimate.follow(progress)
      switch (progress.kind) {
        case 'image':
          state = `building ${progress.target}`
          step = ''
          break
        case 'build-line':
          if (verbose) persist(styleText('dim', stripControls(progress.line)))
          else step = stripControls(progress.line).slice(0, Math.max(0, (output.columns ?? 80) - 40))
          break
        case 'case':
          state = `case ${progress.index} of ${progress.total}: ${progress.id}`
          step = ''
          break
        case 'step':
          step = progress.title
          break
        case 'case-end':
          persist(
            `${styleText(progress.failed ? 'red' : 'green', progress.failed ? '✗' : '✓')} ${progress.id}  ${stripControls(progress.outcome)}`,
          )
          break
        case 'warning':
          persist(styleText('yellow', `warning: ${stripControls(progress.text)}`))
          break
      }
      draw()
    },
    close() {
      clearInterval(timer)
      state = ''
      line.clear()
      line.done()
    },
  }
}

function logProgress(output: Output, verbose: boolean): ProgressSink {
  const print = (text: string): void => {
    output.write(`${stripControls(text)}\n`)
  }
  return {
    onProgress(progress) {
      switch (progress.kind) {
        case 'image':
          print(`Image of ${progress.target}`)
          break
        case 'build-line':
          if (verbose) print(`  | ${progress.line}`)
          break
        case 'case':
          print(`Case ${progress.index} of ${progress.total}: ${progress.id}`)
          break
        case 'step':
          print(`  ${progress.title}`)
          break
        case 'case-end':
          print(`  ${progress.failed ? 'failed: ' : ''}${progress.outcome}`)
          break
        case 'warning':
          print(`  warning: ${progress.text}`)
          break
      }
    },
    close() {},
  }
}

/** What starting, waiting and removing add to the time of load, until the first case tells. */
const FIRST_GUESS = 1.3

/** Guesses the time left: the load still to come, stretched as the cases that are done were. */
class Estimate {
  readonly #now: () => number
  #startedAt = 0
  #leftAtCaseMs: number | undefined
  #caseAt = 0

  constructor(now: () => number) {
    this.#now = now
  }

  follow(progress: Progress): void {
    if (progress.kind !== 'case') return
    this.#caseAt = this.#now()
    if (progress.index === 1) this.#startedAt = this.#caseAt
    if (progress.loads === undefined) return
    const { doneMs, totalMs } = progress.loads
    const stretch = doneMs === 0 ? FIRST_GUESS : (this.#caseAt - this.#startedAt) / doneMs
    this.#leftAtCaseMs = (totalMs - doneMs) * stretch
  }

  left(): string {
    if (this.#leftAtCaseMs === undefined) return ''
    const leftMs = Math.max(0, this.#leftAtCaseMs - (this.#now() - this.#caseAt))
    return `about ${formatDuration(Math.ceil(leftMs / 1000) * 1000)} left`
  }
}

/** Prints what a reader at a terminal wants first: the tables and what is wrong with them. */
export function printReport(report: Report, output: Output): void {
  const lines = [report.headline]
  for (const group of report.groups) {
    lines.push('', group.heading, stripControls(group.load), '', renderTable(group.summary, stripControls))
    if (group.resources !== undefined) lines.push('', renderTable(group.resources, stripControls))
    for (const note of group.notes) {
      const text = `${note.about}: ${stripControls(note.text)}`
      lines.push('', note.kind === 'failure' ? `error: ${text}` : `warning: ${text}`)
      // The bar keeps a line that begins with `::` from being a command to a GitHub runner.
      lines.push(...note.logTail.map((line) => `    | ${stripControls(line)}`))
    }
  }
  output.write(`${lines.join('\n')}\n`)
}
