import { UserError } from '../lib/error.ts'

/** Where a value stands in a file: keys and indices from the root. */
export type Path = readonly PropertyKey[]

/** One thing that is wrong in a file or an option. */
export interface Fault {
  /** File relative to the working directory, or name of an option. */
  readonly place: string
  /** Line, from 1; absent when there is none to point at. */
  readonly line?: number
  /** What is wrong and what is allowed. */
  readonly message: string
}

/** All faults as one error, a line each: by place in order of appearance, then by line, none twice. */
export function buildError(faults: readonly Fault[]): UserError {
  const places = [...new Set(faults.map((fault) => fault.place))]
  const lines = places.flatMap((place) =>
    faults
      .filter((fault) => fault.place === place)
      .sort((a, b) => (a.line ?? 0) - (b.line ?? 0))
      .map(renderFault),
  )
  return new UserError([...new Set(lines)].join('\n'))
}

/** A fault as `place:line: message`. */
function renderFault(fault: Fault): string {
  const place = fault.line === undefined ? fault.place : `${fault.place}:${fault.line}`
  return `${place}: ${fault.message}`
}

/** A path as the user would write it: `requests[0].path`. */
export function renderPath(path: Path): string {
  return path
    .map((step, index) => {
      if (typeof step === 'number') return `[${step}]`
      const key = String(step)
      // Keys come from the user's file; quoting keeps a line break in one from faking a second fault.
      if (!/^[\w.$<-]+$/.test(key)) return `[${JSON.stringify(key)}]`
      return index === 0 ? key : `.${key}`
    })
    .join('')
}

/** A value in a message, shortened to 60 characters: scalars as written, `a list`, `a mapping`, `empty`. */
export function renderValue(value: unknown): string {
  if (value === null || value === undefined || value === '') return 'empty'
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list'
  if (typeof value === 'object') return 'a mapping'
  if (typeof value !== 'string') return String(value)
  return JSON.stringify(value.length > 60 ? `${value.slice(0, 57)}...` : value)
}

/** `a`, `a or b`, `a, b or c`. */
export function renderChoice(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
}
