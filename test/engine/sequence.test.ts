import { expect, test } from 'vitest'
import { buildSequence, startOffset } from '../../src/engine/sequence.ts'

test.each([
  { weights: [1], sequence: [0] },
  // Reduced by the common divisor.
  { weights: [50, 50], sequence: [0, 1] },
  // nginx's own example: not 0 0 0 0 0 1 2.
  { weights: [5, 1, 1], sequence: [0, 0, 1, 0, 2, 0, 0] },
  { weights: [1, 3], sequence: [1, 0, 1, 1] },
] as const)('weights $weights give $sequence', ({ weights, sequence }) => {
  expect(buildSequence(weights)).toEqual(sequence)
})

test('connections start spread over the sequence', () => {
  expect([0, 1, 2, 3].map((index) => startOffset(index, 4, 8))).toEqual([0, 2, 4, 6])
  expect([0, 1, 2, 3].map((index) => startOffset(index, 4, 2))).toEqual([0, 0, 1, 1])
})
