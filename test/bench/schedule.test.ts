import { describe, expect, it } from 'vitest'
import { loadTimeBefore, orderCases } from '../../src/bench/schedule.ts'
import { createFakeCase, createFakeTarget } from '../helpers/fake-lab.ts'

const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((id) => createFakeCase({ id })) as [
  ReturnType<typeof createFakeCase>,
  ...ReturnType<typeof createFakeCase>[],
]

function orderFor(seed: number): string {
  if (b === undefined || c === undefined || d === undefined) throw new Error('four cases')
  return orderCases({ seed, targets: [createFakeTarget()], cases: [a, b, c, d] })
    .map(({ id }) => id)
    .join('')
}

describe('the order of cases', () => {
  it('is the same for the same seed', () => {
    expect(orderFor(7)).toBe(orderFor(7))
  })

  it('is any of all orders, about equally often', () => {
    const counts = new Map<string, number>()
    for (let seed = 0; seed < 24_000; seed += 1) {
      counts.set(orderFor(seed), (counts.get(orderFor(seed)) ?? 0) + 1)
    }
    expect(counts.size).toBe(24)
    // 1000 each; four standard deviations are 124.
    for (const count of counts.values()) expect(Math.abs(count - 1000)).toBeLessThan(124)
  })
})

describe('the load before a case', () => {
  it('is warm-up, settling and runs of the cases before', () => {
    const two = [createFakeCase({ runs: 2 }), createFakeCase({ runs: 1 })]
    expect(loadTimeBefore(two, 0)).toEqual({ doneMs: 0, totalMs: 14_000 + 8_000 })
    expect(loadTimeBefore(two, 1)).toEqual({ doneMs: 14_000, totalMs: 14_000 + 8_000 })
  })

  it('is not known when a case counts requests', () => {
    const counted = createFakeCase()
    const load = { ...counted.load, stop: { kind: 'requests', count: 10 } } as const
    expect(loadTimeBefore([createFakeCase(), { ...counted, load }], 0)).toBeUndefined()
  })
})
