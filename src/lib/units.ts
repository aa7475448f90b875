import { UserError } from './error.ts'

/** What a time looks like, for messages. */
export const DURATION_FORM = 'a time such as 500ms, 5s or 1m30s'
/** What a size looks like, for messages. */
export const SIZE_FORM = 'a size such as 64MB, 512MiB or 1GB'

/** Hours, minutes, seconds and milliseconds, each at most once and in this order; a source for `RegExp` and for JSON Schema. */
export const DURATION_PATTERN =
  '^(?=\\d)(\\d+(\\.\\d+)?h)?(\\d+(\\.\\d+)?m)?(\\d+(\\.\\d+)?s)?(\\d+(\\.\\d+)?ms)?$'
/** A number and its unit, decimal (MB = 10^6 bytes) or binary (MiB = 2^20 bytes); a source for `RegExp` and for JSON Schema. */
export const SIZE_PATTERN = '^\\d+(\\.\\d+)?(B|kB|MB|GB|KiB|MiB|GiB)$'

const US_PER_UNIT = { h: 3_600_000_000, m: 60_000_000, s: 1_000_000, ms: 1_000 } as const

const BYTES_PER_UNIT = {
  GB: 1e9,
  GiB: 2 ** 30,
  MB: 1e6,
  MiB: 2 ** 20,
  kB: 1e3,
  KiB: 2 ** 10,
  B: 1,
} as const

/**
 * Reads a time such as `500ms`, `5s`, `1m30s` or `2.5ms` into milliseconds, exact to the microsecond.
 * @throws {UserError} when the text has no unit, an unknown one, or says less than a microsecond.
 */
export function parseDurationMs(text: string): number {
  let totalUs = 0
  if (!new RegExp(DURATION_PATTERN).test(text)) throw notA(DURATION_FORM, text)
  for (const [, number, unit] of text.matchAll(/([\d.]+)(h|ms|m|s)/g)) {
    totalUs += wholeOr(Number(number) * US_PER_UNIT[unit as keyof typeof US_PER_UNIT], DURATION_FORM, text)
  }
  return totalUs / 1000
}

/**
 * Reads a size such as `64MB` (10^6 bytes) or `512MiB` (2^20 bytes) into bytes.
 * @throws {UserError} when the text has no unit, an unknown one, or is not a whole number of bytes.
 */
export function parseSizeBytes(text: string): number {
  const unit = new RegExp(SIZE_PATTERN).exec(text)?.[2]
  if (unit === undefined) throw notA(SIZE_FORM, text)
  const number = Number(text.slice(0, -unit.length))
  return wholeOr(number * BYTES_PER_UNIT[unit as keyof typeof BYTES_PER_UNIT], SIZE_FORM, text)
}

/** Writes milliseconds (exact to the microsecond, 0 or more) as `parseDurationMs` reads them: `90000` is `1m30s`. */
export function formatDuration(ms: number): string {
  let leftUs = Math.round(ms * 1000)
  let text = ''
  for (const unit of ['h', 'm', 's'] as const) {
    const count = Math.floor(leftUs / US_PER_UNIT[unit])
    if (count > 0) text += `${count}${unit}`
    leftUs -= count * US_PER_UNIT[unit]
  }
  if (leftUs > 0) text += `${leftUs / 1000}ms`
  return text === '' ? '0s' : text
}

/** Writes whole bytes exactly, in the unit that needs the smallest whole number: `512000000` is `512MB`, `536870912` is `512MiB`. */
export function formatSize(bytes: number): string {
  const unit = Object.entries(BYTES_PER_UNIT)
    .sort(([, a], [, b]) => b - a)
    .find(([, size]) => bytes >= size && bytes % size === 0)
  return unit === undefined ? `${bytes}B` : `${bytes / unit[1]}${unit[0]}`
}

function wholeOr(value: number, form: string, text: string): number {
  const whole = Math.round(value)
  // Decimals such as 1.1 are not exact in binary, so that a whole product may be a hair off.
  if (Math.abs(value - whole) > 1e-6 * Math.max(1, value * 1e-6) || !Number.isSafeInteger(whole)) {
    throw notA(form, text)
  }
  return whole
}

function notA(form: string, text: string): UserError {
  return new UserError(`must be ${form}, not ${JSON.stringify(text)}`)
}
