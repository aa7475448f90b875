import { describe, expect, test } from 'vitest'
import type { Unit } from '../../src/model/metric.ts'
import {
  formatBytes,
  formatCount,
  formatDuration,
  formatLatency,
  formatRatio,
  formatValue,
} from '../../src/report/format.ts'

test.each([
  { value: 0, text: '0' },
  { value: 0.0312, text: '0.031' },
  { value: 0.31, text: '0.310' },
  { value: 7.456, text: '7.46' },
  { value: 54.54, text: '54.5' },
  { value: 99.94, text: '99.9' },
  // Rounding up is not a fourth digit.
  { value: 9.999, text: '10.0' },
  { value: 99.97, text: '100' },
  { value: 100.4, text: '100' },
  { value: 1_067.9, text: '1068' },
  { value: 123_456.7, text: '123457' },
])('the count $value is $text', ({ value, text }) => {
  expect(formatCount(value)).toBe(text)
})

test.each([
  { us: 0, text: '0 µs' },
  { us: 1, text: '1.00 µs' },
  { us: 310.2, text: '310 µs' },
  { us: 999.4, text: '999 µs' },
  // 1000 of a unit is one of the next.
  { us: 999.7, text: '1.00 ms' },
  { us: 1_000, text: '1.00 ms' },
  { us: 45_210, text: '45.2 ms' },
  { us: 999_600, text: '1.00 s' },
  { us: 1_200_000, text: '1.20 s' },
  { us: 125_000_000, text: '125 s' },
])('the latency $us µs is $text', ({ us, text }) => {
  expect(formatLatency(us)).toBe(text)
})

test.each([
  { ratio: 0, text: '0 %' },
  { ratio: 0.000_02, text: '0.002 %' },
  { ratio: 0.0012, text: '0.12 %' },
  { ratio: 0.0999, text: '9.99 %' },
  { ratio: 0.993, text: '99.3 %' },
  { ratio: 1, text: '100.0 %' },
  { ratio: 1.04, text: '104.0 %' },
])('the ratio $ratio is $text', ({ ratio, text }) => {
  expect(formatRatio(ratio)).toBe(text)
})

test.each([
  { bytes: 0, text: '0 B' },
  { bytes: 999, text: '999 B' },
  { bytes: 1_000, text: '1.00 kB' },
  { bytes: 5_800_000, text: '5.80 MB' },
  { bytes: 999_950_000, text: '1.00 GB' },
  { bytes: 8_000_000_000, text: '8.00 GB' },
  { bytes: 2e15, text: '2000 TB' },
])('$bytes bytes are $text', ({ bytes, text }) => {
  expect(formatBytes(bytes)).toBe(text)
})

test.each([
  { ms: 0, text: '0 s' },
  { ms: 500, text: '0.5 s' },
  { ms: 5_000, text: '5 s' },
  { ms: 59_940, text: '59.9 s' },
  // Sixty seconds are a minute, after rounding too.
  { ms: 59_960, text: '1 min' },
  { ms: 60_000, text: '1 min' },
  { ms: 119_700, text: '2 min' },
  { ms: 125_000, text: '2 min 5 s' },
])('$ms ms are $text', ({ ms, text }) => {
  expect(formatDuration(ms)).toBe(text)
})

describe('formatValue', () => {
  test.each<{ value: number | undefined; unit: Unit; text: string }>([
    { value: undefined, unit: 'req/s', text: '–' },
    { value: 1_068, unit: 'req/s', text: '1068' },
    { value: 54.5, unit: 'req/s/vCPU', text: '54.5' },
    { value: 310, unit: 'us', text: '310 µs' },
    { value: 0.5, unit: 'ratio', text: '50.0 %' },
    { value: 5_800_000, unit: 'bytes', text: '5.80 MB' },
    { value: 400_000, unit: 'bytes/s', text: '400 kB/s' },
  ])('$value in $unit is $text', ({ value, unit, text }) => {
    expect(formatValue(value, unit)).toBe(text)
  })
})
