import type { MetricName } from '../model/metric.ts'
import type { Case } from '../model/plan.ts'
import type { CaseResult, Failure, ImageRecord, LatencyRecord, Run, UsageSample } from '../model/results.ts'
import { Histogram } from './histogram.ts'
import { median, quantile } from './quantile.ts'
import { type Judgement, judgeRun } from './validity.ts'

/** One metric of a case: the value that is shown, and how far its runs lay apart. */
export interface Summary {
  readonly value: number
  /** Lowest and highest of the runs; absent when the metric is not one of runs, or there was one run. */
  readonly range?: { readonly low: number; readonly high: number }
}

export interface JudgedRun {
  readonly run: Run
  readonly judgement: Judgement
}

/** What a case's runs come to. */
export interface CaseSummary {
  readonly benchCase: Case
  /** `measured` has numbers; `invalid` was measured and must not show any; `failed` was not measured to the end. */
  readonly state:
    | { readonly kind: 'measured' }
    | { readonly kind: 'invalid'; readonly reason: string }
    | { readonly kind: 'failed'; readonly failure: Failure }
  readonly metrics: ReadonlyMap<MetricName, Summary>
  /** All runs, discarded ones included, in order. */
  readonly runs: readonly JudgedRun[]
  /** Latencies of all runs that count. */
  readonly latency: Histogram
  /** Distinct warnings of the runs that count, and of the case. */
  readonly warnings: readonly string[]
}

/** Rule of thumb for a quantile that means something: ten values beyond it. */
const MIN_BEYOND_QUANTILE = 10

/** Derives every metric of a case from what was measured. */
export function summarizeCase(
  benchCase: Case,
  result: CaseResult,
  image: ImageRecord | undefined,
): CaseSummary {
  const runs = result.runs.map((run) => ({ run, judgement: judgeRun(run, benchCase) }))
  const finished = runs.filter(({ run }) => run.discarded === undefined)
  const valid = finished.filter(({ judgement }) => judgement.invalid === undefined)
  const latency = mergeLatencies(valid.map(({ run }) => run.load.latency))
  const invalid = finished.filter(({ judgement }) => judgement.invalid !== undefined)
  const metrics = new Map<MetricName, Summary>()
  for (const [name, summary] of metricsOfRuns(benchCase, valid, latency)) metrics.set(name, summary)
  for (const [name, value] of metricsOfCase(result, image)) metrics.set(name, { value })
  return {
    benchCase,
    state: stateOf(result, valid, invalid),
    metrics,
    runs,
    latency,
    warnings: [
      ...new Set([
        ...coldStartWarnings(benchCase, result),
        ...valid.flatMap(({ judgement }) => judgement.warnings),
        ...(valid.length > 0
          ? invalid.map(({ judgement }) => `a run does not count: ${judgement.invalid}`)
          : []),
        ...runs.flatMap(({ run }, at) => {
          // The run in which the target ended was not repeated: the failure tells of it.
          const last = result.failure !== undefined && at === runs.length - 1
          return run.discarded === undefined || last ? [] : [`a run was repeated: ${run.discarded}`]
        }),
      ]),
    ],
  }
}

/** Starts that take long are timed less often than asked for. */
function coldStartWarnings(benchCase: Case, result: CaseResult): readonly string[] {
  const timed = result.coldStarts.length
  if (result.failure !== undefined || timed >= benchCase.coldStarts) return []
  return [`only ${timed} of ${benchCase.coldStarts} cold starts were timed: they take long`]
}

function stateOf(
  result: CaseResult,
  valid: readonly JudgedRun[],
  invalid: readonly JudgedRun[],
): CaseSummary['state'] {
  if (result.failure !== undefined) return { kind: 'failed', failure: result.failure }
  if (valid.length > 0) return { kind: 'measured' }
  return { kind: 'invalid', reason: invalid[0]?.judgement.invalid ?? 'there was no run' }
}

/** Medians over runs; latencies from the histograms of all runs merged. */
function metricsOfRuns(
  benchCase: Case,
  runs: readonly JudgedRun[],
  latency: Histogram,
): ReadonlyMap<MetricName, Summary> {
  const single = runs.map(({ run, judgement }) => ({
    ...metricsOfRun(benchCase, run, judgement),
    ...metricsOfLatency(Histogram.decode(run.load.latency.histogram)),
  }))
  const merged = metricsOfLatency(latency)
  const names = new Set([
    ...single.flatMap((values) => Object.keys(values)),
    ...Object.keys(merged),
  ]) as Set<MetricName>
  const summaries = new Map<MetricName, Summary>()
  for (const name of names) {
    const values = single.map((run) => run[name]).filter((value) => value !== undefined)
    const value = merged[name] ?? median(values)
    if (value === undefined) continue
    const range = values.length > 1 ? { range: { low: Math.min(...values), high: Math.max(...values) } } : {}
    summaries.set(name, { value, ...range })
  }
  return summaries
}

type Values = Partial<Record<MetricName, number>>

function metricsOfRun(benchCase: Case, run: Run, judgement: Judgement): Values {
  const { load, usage } = run
  const { cpus, memoryBytes } = benchCase.limits
  const seconds = load.windowUs / 1e6
  const throughput = load.completedOk / seconds
  // Answers inside the window stand for its work; failed ones cost CPU too, but are under 1 % of a valid run.
  const cpuTimePerRequest = usage && load.completedOk > 0 ? usage.cpuUs / load.completedOk : undefined
  return defined({
    throughput,
    throughput_per_vcpu: cpus === undefined ? undefined : throughput / cpus,
    rate: load.sent / seconds,
    error_ratio: judgement.errorRatio,
    cpu_time_per_request: cpuTimePerRequest,
    cpu_used: judgement.cpuUsedRatio,
    throttled_ratio: judgement.throttledRatio,
    memory_peak: usage?.memoryPeakBytes,
    bytes_in: load.bytesIn / seconds,
    bytes_out: load.bytesOut / seconds,
    connect_time: Histogram.decode(load.connect.histogram).quantileUs(0.5),
    ...metricsOfTimeline(usage?.timeline ?? [], cpus, memoryBytes),
  })
}

const UTILIZATION_WINDOW_US = 1_000_000

/** Utilisation over sliding windows of a second, as container platforms chart it. */
function metricsOfTimeline(
  timeline: readonly UsageSample[],
  cpus: number | undefined,
  memoryBytes: number | undefined,
): Values {
  const cpu = cpus === undefined ? [] : cpuRatios(timeline, cpus)
  const memory = memoryBytes === undefined ? [] : timeline.map((sample) => sample.memoryBytes / memoryBytes)
  return defined({
    cpu_utilization_p50: quantile(cpu, 0.5),
    cpu_utilization_p95: quantile(cpu, 0.95),
    cpu_utilization_p99: quantile(cpu, 0.99),
    memory_utilization_p50: quantile(memory, 0.5),
    memory_utilization_p95: quantile(memory, 0.95),
    memory_utilization_p99: quantile(memory, 0.99),
  })
}

function cpuRatios(timeline: readonly UsageSample[], cpus: number): readonly number[] {
  const ratios: number[] = []
  let start = 0
  for (const [end, last] of timeline.entries()) {
    let first = timeline[start]
    while (
      first !== undefined &&
      start + 1 < end &&
      last.atUs - (timeline[start + 1]?.atUs ?? 0) >= UTILIZATION_WINDOW_US
    ) {
      start += 1
      first = timeline[start]
    }
    if (first === undefined || last.atUs - first.atUs < UTILIZATION_WINDOW_US) continue
    ratios.push((last.cpuUs - first.cpuUs) / ((last.atUs - first.atUs) * cpus))
  }
  return ratios
}

function metricsOfLatency(histogram: Histogram): Values {
  return defined({
    latency_mean: histogram.meanUs,
    latency_stddev: histogram.stddevUs,
    latency_p50: reliableQuantile(histogram, 0.5),
    latency_p90: reliableQuantile(histogram, 0.9),
    latency_p95: reliableQuantile(histogram, 0.95),
    latency_p99: reliableQuantile(histogram, 0.99),
    latency_p999: reliableQuantile(histogram, 0.999),
    latency_max: histogram.maxUs,
  })
}

/** A quantile in microseconds; undefined when fewer than ten values lie beyond it. */
export function reliableQuantile(histogram: Histogram, ratio: number): number | undefined {
  // 1 - 0.99 is a little more than 0.01 in binary: 1000 values shall be enough for p99.
  const needed = Math.round(MIN_BEYOND_QUANTILE / (1 - ratio))
  return histogram.count >= needed ? histogram.quantileUs(ratio) : undefined
}

function metricsOfCase(result: CaseResult, image: ImageRecord | undefined): ReadonlyMap<MetricName, number> {
  const starts = result.coldStarts.map((start) => start.firstAnswerUs)
  const values = defined({
    cold_start: median(starts),
    cold_start_p95: quantile(starts, 0.95),
    cold_start_p99: quantile(starts, 0.99),
    image_size: image?.sizeBytes,
  })
  return new Map(Object.entries(values)) as ReadonlyMap<MetricName, number>
}

function mergeLatencies(records: readonly LatencyRecord[]): Histogram {
  const merged = new Histogram()
  for (const record of records) merged.add(Histogram.decode(record.histogram))
  return merged
}

function defined(values: { readonly [Name in MetricName]?: number | undefined }): Values {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
}
