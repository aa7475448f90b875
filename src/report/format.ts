import type { Unit } from '../model/metric.ts'

/** What stands in a cell that has no number. */
export const ABSENT = '–'

/** A number of a metric as people read it, with its unit where the heading does not say it. */
export function formatValue(value: number | undefined, unit: Unit): string {
  if (value === undefined) return ABSENT
  switch (unit) {
    case 'req/s':
    case 'req/s/vCPU':
      return formatCount(value)
    case 'us':
      return formatLatency(value)
    case 'ratio':
      return formatRatio(value)
    case 'bytes':
      return formatBytes(value)
    case 'bytes/s':
      return `${formatBytes(value)}/s`
  }
}

/** Whole from 100 on, else three digits: `1068`, `54.5`, `0.31`. */
export function formatCount(value: number): string {
  return value >= 100 ? value.toFixed(0) : threeDigits(value)
}

/** Microseconds in the unit that suits them: `310 µs`, `45.2 ms`, `1.20 s`. */
export function formatLatency(us: number): string {
  // Rounded before the unit is chosen, or there would be 1000 of it.
  const rounded = roundToThree(us)
  if (rounded < 1000) return `${threeDigits(us)} µs`
  if (rounded < 1e6) return `${threeDigits(us / 1000)} ms`
  return `${threeDigits(us / 1e6)} s`
}

/** A ratio as percent: `0 %`, `0.12 %`, `99.3 %`. */
export function formatRatio(ratio: number): string {
  const percent = ratio * 100
  if (percent === 0) return '0 %'
  return `${percent < 0.1 ? percent.toPrecision(1) : percent.toFixed(percent < 10 ? 2 : 1)} %`
}

/** Decimal units, as image registries show them: `5.8 MB`. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  const rounded = roundToThree(bytes)
  const power = rounded < 1000 ? 0 : Math.min(Math.floor(Math.log10(rounded) / 3), units.length - 1)
  return `${threeDigits(bytes / 1000 ** power)} ${units[power]}`
}

/** Seconds for people: `5 s`, `2.5 s`, `2 min 5 s`. */
export function formatDuration(ms: number): string {
  if (Math.round(ms / 100) < 600) return `${Number((ms / 1000).toFixed(1))} s`
  const total = Math.round(ms / 1000)
  const minutes = Math.floor(total / 60)
  const seconds = total % 60
  return seconds === 0 ? `${minutes} min` : `${minutes} min ${seconds} s`
}

/** Three digits and at most three decimals, all digits from 100 on, without an exponent. */
function threeDigits(value: number): string {
  if (value === 0) return '0'
  // Of the rounded value: 9.999 becomes 10.0, not 10.00.
  const decimals = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(roundToThree(value)))))
  return value.toFixed(Math.min(decimals, 3))
}

function roundToThree(value: number): number {
  return Number(value.toPrecision(3))
}
