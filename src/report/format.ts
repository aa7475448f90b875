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
  return value >= 100 ? value.toFixed(0) : significant(value)
}

/** Microseconds in the unit that suits them: `310 µs`, `45.2 ms`, `1.20 s`. */
export function formatLatency(us: number): string {
  if (us < 1000) return `${significant(us)} µs`
  if (us < 1e6) return `${significant(us / 1000)} ms`
  return `${significant(us / 1e6)} s`
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
  const power = bytes < 1000 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), units.length - 1)
  return `${significant(bytes / 1000 ** power)} ${units[power]}`
}

/** Seconds for people: `5 s`, `2.5 s`, `2 min 5 s`. */
export function formatDuration(ms: number): string {
  if (ms < 60_000) return `${Number((ms / 1000).toFixed(1))} s`
  const minutes = Math.floor(ms / 60_000)
  const seconds = Math.round((ms % 60_000) / 1000)
  return seconds === 0 ? `${minutes} min` : `${minutes} min ${seconds} s`
}

/** Three digits, without an exponent. */
function significant(value: number): string {
  if (value === 0) return '0'
  const decimals = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))))
  return value.toFixed(Math.min(decimals, 3))
}
