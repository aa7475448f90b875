import { expect, it } from 'vitest'
import { findNearest } from '../../src/lib/nearest.ts'

it.each([
  ['conections', 'connections'],
  ['Duration', 'duration'],
  ['pathh', 'path'],
  ['ptah', 'path'],
  // Too far from everything to be a slip of the finger.
  ['zzz', undefined],
  ['', undefined],
])('takes %j for %j', (word, expected) => {
  expect(findNearest(word, ['connections', 'duration', 'path'])).toBe(expected)
})

it('finds nothing among no candidates', () => {
  expect(findNearest('path', [])).toBeUndefined()
})
