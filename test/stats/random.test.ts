import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../src/stats/random.ts'

describe('seeded random numbers', () => {
  it('are those of Mulberry32', () => {
    const random = seededRandom(1)
    // Made by the reference implementation in C.
    expect([random(), random(), random()].map((value) => value * 2 ** 32)).toEqual([
      2693262067, 11749833, 2265367787,
    ])
  })

  it('are spread evenly', () => {
    const random = seededRandom(42)
    const values = Array.from({ length: 100_000 }, random)
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length
    expect(mean).toBeCloseTo(0.5, 2)
    expect(Math.min(...values.slice(0, 1000))).toBeGreaterThanOrEqual(0)
    expect(Math.max(...values.slice(0, 1000))).toBeLessThan(1)
  })
})
