import { describe, expect, test } from 'vitest'
import { HIGHEST_LATENCY_US, Histogram } from '../../src/stats/histogram.ts'

/** 1 to 10 000 µs, each once. */
function buildRamp(): Histogram {
  const histogram = new Histogram()
  for (let value = 1; value <= 10_000; value++) histogram.record(value)
  return histogram
}

describe('Histogram', () => {
  test.each([
    { ratio: 0, us: 1 },
    { ratio: 0.05, us: 500 },
    // 5000 shares a bucket of 4 with 5003: above 2048 µs, values are not told apart any finer than 0.1 %.
    { ratio: 0.5, us: 5_003 },
    { ratio: 0.9, us: 9_007 },
    { ratio: 0.99, us: 9_903 },
    { ratio: 1, us: 10_007 },
  ])('of 1..10000 the quantile $ratio is $us', ({ ratio, us }) => {
    expect(buildRamp().quantileUs(ratio)).toBe(us)
  })

  test('mean and standard deviation are those of the recorded values within the resolution', () => {
    const histogram = buildRamp()
    // Of 1..n: (n + 1) / 2 and sqrt((n² - 1) / 12).
    expect((histogram.meanUs ?? 0) / 5_000.5).toBeCloseTo(1, 3)
    expect((histogram.stddevUs ?? 0) / 2_886.75).toBeCloseTo(1, 3)
  })

  test('an empty one has no quantiles and encodes to the empty string', () => {
    const histogram = new Histogram()
    expect(histogram.quantileUs(0.5)).toBeUndefined()
    expect(histogram.meanUs).toBeUndefined()
    expect(histogram.stddevUs).toBeUndefined()
    expect(histogram.maxUs).toBeUndefined()
    expect(histogram.buckets()).toEqual([])
    expect(histogram.encode()).toBe('')
    expect(Histogram.decode('').count).toBe(0)
  })

  test('survives encoding', () => {
    const decoded = Histogram.decode(buildRamp().encode())
    expect(decoded.count).toBe(10_000)
    expect(decoded.buckets()).toEqual(buildRamp().buckets())
  })

  test('encodes as HDR V2 compressed base64', () => {
    const histogram = new Histogram()
    histogram.record(300, 2)
    histogram.record(6_000_000)
    // The cookie of V2 compressed, 0x1c849314.
    expect(Buffer.from(histogram.encode(), 'base64').readUInt32BE()).toBe(0x1c849314)
  })

  test('reads what was written before', () => {
    const histogram = Histogram.decode(GOLDEN)
    expect(histogram.count).toBe(3)
    expect(histogram.buckets()).toEqual([
      { fromUs: 300, toUs: 301, count: 2 },
      { fromUs: 5_996_544, toUs: 6_000_640, count: 1 },
    ])
  })

  test('rejects what is no histogram', () => {
    expect(() => Histogram.decode('aGVsbG8sIHdvcmxkIQ==')).toThrow()
  })

  test('adding merges counts, decoded ones too', () => {
    const histogram = buildRamp()
    histogram.add(Histogram.decode(buildRamp().encode()))
    expect(histogram.count).toBe(20_000)
    expect(histogram.quantileUs(0.5)).toBe(5_003)
  })

  test('buckets hold every value once and touch no other bucket', () => {
    const buckets = buildRamp().buckets()
    expect(buckets.reduce((sum, bucket) => sum + bucket.count, 0)).toBe(10_000)
    for (const [index, bucket] of buckets.entries()) {
      expect(bucket.toUs).toBeLessThanOrEqual(buckets[index + 1]?.fromUs ?? Number.POSITIVE_INFINITY)
    }
  })

  test.each([
    { given: 0.2, held: 1 },
    { given: 0, held: 1 },
    { given: 1.6, held: 2 },
    { given: 300, held: 300 },
  ])('$given µs is held as $held', ({ given, held }) => {
    const histogram = new Histogram()
    histogram.record(given)
    expect(histogram.maxUs).toBe(held)
  })

  test('hours are held within 0.1 %, and more than a day as a day', () => {
    const histogram = new Histogram()
    histogram.record(2 * 3_600 * 1_000_000)
    expect((histogram.maxUs ?? 0) / (2 * 3_600 * 1_000_000)).toBeCloseTo(1, 3)
    histogram.record(HIGHEST_LATENCY_US * 3)
    expect((histogram.maxUs ?? 0) / HIGHEST_LATENCY_US).toBeCloseTo(1, 3)
  })
})

/** 300 µs twice and 6 s once, as hdr-histogram-js 3.0.1 wrote it. */
const GOLDEN = 'HISTFAAAACp4nJNpmSzMwMDAzsDAwMjAwMDMAAEgtojs9QQGGP86C8vUS4xMAF/yBQU='
