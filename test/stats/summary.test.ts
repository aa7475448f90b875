import { describe, expect, test } from 'vitest'
import type { MetricName } from '../../src/model/metric.ts'
import type { CaseResult } from '../../src/model/results.ts'
import { Histogram } from '../../src/stats/histogram.ts'
import { reliableQuantile, summarizeCase } from '../../src/stats/summary.ts'
import {
  createCase,
  createCaseResult,
  createFailures,
  createLatency,
  createRun,
  createTimeline,
} from '../helpers/runs.ts'

function summarize(result: Partial<CaseResult>, benchCase = createCase()) {
  return summarizeCase(benchCase, createCaseResult(result), undefined)
}

/** A run with so many answers in its five seconds, all of one latency. */
function createRunOf(answers: number, latencyUs: number) {
  const latency = createLatency([latencyUs, answers])
  return createRun({ load: { sent: answers, ok: answers, completedOk: answers, latency } })
}

const INVALID = createRun({ load: { failures: createFailures({ timeout: 5_000 }) } })

test('one good run gives every metric of runs that can be had', () => {
  const { state, metrics } = summarize({})
  expect(state).toEqual({ kind: 'measured' })
  expect(Object.fromEntries([...metrics].map(([name, { value }]) => [name, value]))).toEqual({
    throughput: 1_000,
    throughput_per_vcpu: 2_000,
    rate: 1_000,
    error_ratio: 0,
    cpu_time_per_request: 500,
    cpu_used: 1,
    throttled_ratio: 0.98,
    memory_peak: 12_000_000,
    bytes_in: 400_000,
    bytes_out: 100_000,
    connect_time: 90,
    cpu_utilization_p50: 1,
    cpu_utilization_p95: 1,
    cpu_utilization_p99: 1,
    // 16 ms within the histogram's 0.1 %.
    latency_mean: 16_004,
    latency_stddev: 0,
    latency_p50: 16_007,
    latency_p90: 16_007,
    latency_p95: 16_007,
    latency_p99: 16_007,
    latency_max: 16_007,
  })
  expect([...metrics.values()].every(({ range }) => range === undefined)).toBe(true)
})

test('several runs give their median, and how far they lay apart', () => {
  const { metrics } = summarize({
    runs: [createRunOf(5_000, 100), createRunOf(6_000, 100), createRunOf(5_500, 100)],
  })
  expect(metrics.get('throughput')).toEqual({ value: 1_100, range: { low: 1_000, high: 1_200 } })
})

test('latencies are those of all requests of all runs, not medians of quantiles', () => {
  const { metrics, latency } = summarize({
    runs: [createRunOf(1_000, 100), createRunOf(1_000, 200), createRunOf(8_000, 400)],
  })
  expect(latency.count).toBe(10_000)
  expect(metrics.get('latency_p50')).toEqual({ value: 400, range: { low: 100, high: 400 } })
  expect(metrics.get('latency_p90')?.value).toBe(400)
})

describe('a quantile needs ten values beyond it', () => {
  test.each<{ count: number; name: MetricName; present: boolean }>([
    { count: 19, name: 'latency_p50', present: false },
    { count: 20, name: 'latency_p50', present: true },
    { count: 99, name: 'latency_p90', present: false },
    { count: 100, name: 'latency_p90', present: true },
    { count: 999, name: 'latency_p99', present: false },
    { count: 1_000, name: 'latency_p99', present: true },
    { count: 9_999, name: 'latency_p999', present: false },
    { count: 10_000, name: 'latency_p999', present: true },
    // The highest is what it is, however few there are.
    { count: 1, name: 'latency_max', present: true },
  ])('$name of $count requests is there: $present', ({ count, name, present }) => {
    expect(summarize({ runs: [createRunOf(count, 100)] }).metrics.has(name)).toBe(present)
  })

  test('runs may have it together that none of them has alone', () => {
    const { metrics } = summarize({ runs: [createRunOf(500, 100), createRunOf(500, 100)] })
    expect(metrics.get('latency_p99')).toEqual({ value: 100 })
  })

  test('at any ratio', () => {
    const histogram = new Histogram()
    histogram.record(5, 1_999)
    expect(reliableQuantile(histogram, 0.995)).toBeUndefined()
    histogram.record(5)
    expect(reliableQuantile(histogram, 0.995)).toBe(5)
  })
})

describe('runs that do not count', () => {
  test('an invalid run gives no number', () => {
    const { state, metrics, latency } = summarize({ runs: [INVALID] })
    expect(state).toEqual({ kind: 'invalid', reason: '100 % of 5000 requests failed (timeout 5000)' })
    expect(metrics.size).toBe(0)
    expect(latency.count).toBe(0)
  })

  test('a valid one beside it does, with a warning', () => {
    const { state, metrics, warnings } = summarize({ runs: [INVALID, createRunOf(5_500, 100)] })
    expect(state.kind).toBe('measured')
    expect(metrics.get('throughput')).toEqual({ value: 1_100 })
    expect(warnings).toContain('a run does not count: 100 % of 5000 requests failed (timeout 5000)')
  })

  test('a discarded run gives none either, but stays in the list', () => {
    const discarded = { ...createRunOf(1, 100), discarded: 'the host was taken away' }
    const { metrics, runs, warnings } = summarize({ runs: [discarded, createRun()] })
    expect(metrics.get('throughput')).toEqual({ value: 1_000 })
    expect(runs).toHaveLength(2)
    expect(warnings).toEqual(['a run was repeated: the host was taken away'])
  })

  test.each([
    { name: 'without runs', runs: [], reason: 'there was no run' },
    {
      name: 'with discarded runs only',
      runs: [{ ...createRun(), discarded: 'the host was taken away' }],
      reason: 'there was no run',
    },
  ])('a case $name is invalid', ({ runs, reason }) => {
    expect(summarize({ runs }).state).toEqual({ kind: 'invalid', reason })
  })

  test('a failure is the state whatever was measured before it', () => {
    const failure = {
      stage: 'load',
      message: 'the target exited with code 1 under load',
      logTail: [],
    } as const
    expect(summarize({ failure }).state).toEqual({ kind: 'failed', failure })
  })
})

test('the same warning is said once', () => {
  const run = createRun({ usage: { oomKills: 1 } })
  expect(summarize({ runs: [run, run] }).warnings).toEqual([
    'the kernel killed a process of the target for want of memory: raise limits.memory',
  ])
})

test('cold starts that were cut short are said to be', () => {
  const coldStarts = [{ firstAnswerUs: 40_000_000, totalUs: 40_000_000 }]
  expect(summarize({ coldStarts }, createCase({ coldStarts: 5 })).warnings).toEqual([
    'only 1 of 5 cold starts were timed: they take long',
  ])
})

describe('utilisation', () => {
  const utilization = (timeline: ReturnType<typeof createTimeline>, memoryBytes?: number) => {
    const limits = { cpus: 0.5, periodUs: 100_000, ...(memoryBytes === undefined ? {} : { memoryBytes }) }
    const { metrics } = summarize({ runs: [createRun({ usage: { timeline } })] }, createCase({ limits }))
    return Object.fromEntries(
      [...metrics].filter(([name]) => name.includes('utilization')).map(([name, { value }]) => [name, value]),
    )
  }

  test('is of the quota, over windows of a second', () => {
    // Idle for four of five seconds, then at its quota: the last ten of 41 windows hold 0.1, 0.2, … 1 of it.
    const timeline = createTimeline(0).map((sample) => ({
      ...sample,
      cpuUs: Math.max(0, sample.atUs - 4_000_000) / 2,
    }))
    const { cpu_utilization_p50: p50, cpu_utilization_p99: p99 } = utilization(timeline)
    expect(p50).toBe(0)
    expect(p99).toBeCloseTo(0.96, 6)
  })

  test('takes the time that readings were really apart', () => {
    const timeline = [
      { atUs: 0, cpuUs: 0, memoryBytes: 1 },
      { atUs: 1_250_000, cpuUs: 250_000, memoryBytes: 1 },
      { atUs: 2_500_000, cpuUs: 500_000, memoryBytes: 1 },
    ]
    expect(utilization(timeline).cpu_utilization_p50).toBeCloseTo(0.4, 12)
  })

  test('is absent in less than a second', () => {
    expect(utilization(createTimeline(0.5).slice(0, 10))).toEqual({})
  })

  test('of memory needs a limit', () => {
    expect(utilization(createTimeline(0.5, 50_000_000), 100_000_000)).toMatchObject({
      memory_utilization_p50: 0.5,
      memory_utilization_p99: 0.5,
    })
  })

  test('of CPU needs a quota', () => {
    const { metrics } = summarize({}, createCase({ limits: { periodUs: 100_000 } }))
    expect(metrics.has('cpu_utilization_p50')).toBe(false)
    expect(metrics.has('throughput_per_vcpu')).toBe(false)
    expect(metrics.has('cpu_used')).toBe(false)
  })
})

test('cold starts and the image belong to the case', () => {
  const coldStarts = [3_000, 1_000, 2_000].map((us) => ({ firstAnswerUs: us, totalUs: us + 200_000 }))
  const image = { target: 'static-files', id: 'sha256:a', sizeBytes: 5_800_000 }
  const { metrics } = summarizeCase(createCase(), createCaseResult({ coldStarts, runs: [] }), image)
  expect(Object.fromEntries(metrics)).toEqual({
    cold_start: { value: 2_000 },
    cold_start_p95: { value: 2_900 },
    cold_start_p99: { value: 2_980 },
    image_size: { value: 5_800_000 },
  })
})

test('a url target has no counters, and no metrics of them', () => {
  const { metrics } = summarize({ runs: [createRun({ usage: undefined, path: 'url' })] })
  expect(metrics.get('throughput')?.value).toBe(1_000)
  for (const name of ['cpu_time_per_request', 'cpu_used', 'memory_peak', 'throttled_ratio'] as const) {
    expect(metrics.has(name)).toBe(false)
  }
})
