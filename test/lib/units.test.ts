import { describe, expect, it } from 'vitest'
import { formatDuration, formatSize, parseDurationMs, parseSizeBytes } from '../../src/lib/units.ts'

describe('durations', () => {
  it.each([
    ['500ms', 500],
    ['5s', 5000],
    ['1.5s', 1500],
    ['1m30s', 90_000],
    ['1h', 3_600_000],
    ['2.5ms', 2.5],
    // In floating point 1.1 x 1000 is not exact.
    ['1.1s', 1100],
    ['0s', 0],
  ])('reads %s', (text, ms) => {
    expect(parseDurationMs(text)).toBe(ms)
  })

  it.each(['', '5', 's', '5 s', '-5s', '5S', '30s1m', '5s5s', '1e3s', '.5s', '0.0001ms', '5sec'])(
    'refuses %j',
    (text) => {
      expect(() => parseDurationMs(text)).toThrow(
        `must be a time such as 500ms, 5s or 1m30s, not ${JSON.stringify(text)}`,
      )
    },
  )

  it.each([
    [0, '0s'],
    [2.5, '2.5ms'],
    [5000, '5s'],
    [90_000, '1m30s'],
    [3_600_000, '1h'],
    [1500, '1s500ms'],
  ])('writes %d as it is read', (ms, text) => {
    expect(formatDuration(ms)).toBe(text)
    expect(parseDurationMs(text)).toBe(ms)
  })
})

describe('sizes', () => {
  it.each([
    ['64MB', 64_000_000],
    ['512MiB', 536_870_912],
    ['1GB', 1_000_000_000],
    ['1.1GB', 1_100_000_000],
    ['1B', 1],
    ['4kB', 4000],
    ['4KiB', 4096],
  ])('reads %s', (text, bytes) => {
    expect(parseSizeBytes(text)).toBe(bytes)
  })

  it.each(['', '64', '64M', '64mb', '64 MB', '-1MB', '0.5B', '1e3MB', '64m', '99999999999GB'])(
    'refuses %j',
    (text) => {
      expect(() => parseSizeBytes(text)).toThrow('must be a size such as 64MB, 512MiB or 1GB')
    },
  )

  it.each([
    [0, '0B'],
    [999, '999B'],
    [512_000_000, '512MB'],
    [536_870_912, '512MiB'],
    [1_000_000_000, '1GB'],
    [1_500_000_000, '1500MB'],
    [6_291_456, '6MiB'],
  ])('writes %d as it is read', (bytes, text) => {
    expect(formatSize(bytes)).toBe(text)
    expect(parseSizeBytes(text)).toBe(bytes)
  })
})
