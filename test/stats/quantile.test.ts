import { expect, test } from 'vitest'
import { median, quantile } from '../../src/stats/quantile.ts'

test.each([
  { values: [], ratio: 0.5, expected: undefined },
  { values: [7], ratio: 0.99, expected: 7 },
  { values: [1, 2, 3, 4], ratio: 0, expected: 1 },
  { values: [1, 2, 3, 4], ratio: 1, expected: 4 },
  // As R 4 gives for quantile(c(1, 2, 3, 4), 0.25) and numpy for the same.
  { values: [1, 2, 3, 4], ratio: 0.25, expected: 1.75 },
  { values: [10, 20, 30, 40, 50], ratio: 0.95, expected: 48 },
  // Sorted as numbers, not as text.
  { values: [100, 9, 20], ratio: 0.5, expected: 20 },
])('of $values the quantile $ratio is $expected', ({ values, ratio, expected }) => {
  const found = quantile(values, ratio)
  if (expected === undefined) expect(found).toBeUndefined()
  else expect(found).toBeCloseTo(expected, 12)
})

test.each([
  { values: [], expected: undefined },
  { values: [3, 1, 2], expected: 2 },
  { values: [4, 1, 3, 2], expected: 2.5 },
])('the median of $values is $expected', ({ values, expected }) => {
  expect(median(values)).toBe(expected)
})

test('leaves the list as it was', () => {
  const values = [3, 1, 2]
  quantile(values, 0.5)
  expect(values).toEqual([3, 1, 2])
})
