/** What is measured, named once: reports, comparisons and stores know it by this. */
export interface Metric {
  readonly name: MetricName
  /** Heading in tables. */
  readonly title: string
  readonly unit: Unit
  /** Which way is better. */
  readonly direction: 'higher' | 'lower'
  /** Only gated metrics may ever fail a build. */
  readonly role: 'gated' | 'informational'
  readonly description: string
}

/** `us` are microseconds; `ratio` is 0-1. */
export type Unit = 'req/s' | 'req/s/vCPU' | 'us' | 'ratio' | 'bytes' | 'bytes/s'

export type MetricName = (typeof METRICS)[number]['name']

/** Every metric, in the order of tables. */
export const METRICS = [
  {
    name: 'throughput',
    title: 'req/s',
    unit: 'req/s',
    direction: 'higher',
    role: 'gated',
    description: 'Successful answers per second.',
  },
  {
    name: 'throughput_per_vcpu',
    title: 'req/s / vCPU',
    unit: 'req/s/vCPU',
    direction: 'higher',
    role: 'informational',
    description: 'Throughput divided by the CPU limit.',
  },
  {
    name: 'rate',
    title: 'sent/s',
    unit: 'req/s',
    direction: 'higher',
    role: 'informational',
    description: 'Requests sent per second, whatever became of them.',
  },
  {
    name: 'latency_mean',
    title: 'mean',
    unit: 'us',
    direction: 'lower',
    role: 'gated',
    description: 'Mean latency.',
  },
  {
    name: 'latency_stddev',
    title: 'stddev',
    unit: 'us',
    direction: 'lower',
    role: 'informational',
    description: 'Standard deviation of the latency.',
  },
  {
    name: 'latency_p50',
    title: 'p50',
    unit: 'us',
    direction: 'lower',
    role: 'informational',
    description: 'Median latency.',
  },
  {
    name: 'latency_p90',
    title: 'p90',
    unit: 'us',
    direction: 'lower',
    role: 'informational',
    description: '90th percentile of the latency.',
  },
  {
    name: 'latency_p95',
    title: 'p95',
    unit: 'us',
    direction: 'lower',
    role: 'informational',
    description: '95th percentile of the latency.',
  },
  {
    name: 'latency_p99',
    title: 'p99',
    unit: 'us',
    direction: 'lower',
    role: 'gated',
    description: '99th percentile of the latency.',
  },
  {
    name: 'latency_p999',
    title: 'p99.9',
    unit: 'us',
    direction: 'lower',
    role: 'informational',
    description: '99.9th percentile of the latency.',
  },
  {
    name: 'latency_max',
    title: 'max',
    unit: 'us',
    direction: 'lower',
    role: 'informational',
    description: 'Longest latency.',
  },
  {
    name: 'error_ratio',
    title: 'errors',
    unit: 'ratio',
    direction: 'lower',
    role: 'informational',
    description: 'Share of the requests that got no successful answer.',
  },
  {
    name: 'cpu_time_per_request',
    title: 'CPU / request',
    unit: 'us',
    direction: 'lower',
    role: 'gated',
    description: "CPU time of the target's container per successful answer.",
  },
  {
    name: 'cpu_used',
    title: 'CPU used',
    unit: 'ratio',
    direction: 'lower',
    role: 'informational',
    description: 'CPU time used, as a share of the limit.',
  },
  {
    name: 'throttled_ratio',
    title: 'throttled',
    unit: 'ratio',
    direction: 'lower',
    role: 'informational',
    description: 'Share of the CFS periods in which the quota ran out.',
  },
  ...percentiles(
    'cpu_utilization',
    'CPU utilisation',
    'ratio',
    'Share of the CPU limit in use over one second',
  ),
  ...percentiles('memory_utilization', 'memory utilisation', 'ratio', 'Share of the memory limit in use'),
  {
    name: 'memory_peak',
    title: 'memory peak',
    unit: 'bytes',
    direction: 'lower',
    role: 'gated',
    description: "Highest memory use since the container's start, file cache included.",
  },
  {
    name: 'bytes_in',
    title: 'received',
    unit: 'bytes/s',
    direction: 'lower',
    role: 'informational',
    description: 'Bytes that the generator received per second.',
  },
  {
    name: 'bytes_out',
    title: 'sent',
    unit: 'bytes/s',
    direction: 'lower',
    role: 'informational',
    description: 'Bytes that the generator sent per second.',
  },
  {
    name: 'connect_time',
    title: 'connect',
    unit: 'us',
    direction: 'lower',
    role: 'informational',
    description: 'Median time to open a TCP connection.',
  },
  {
    name: 'cold_start',
    title: 'cold start p50',
    unit: 'us',
    direction: 'lower',
    role: 'gated',
    description:
      "Median time from the container's start to the first correct answer, under the case's limits.",
  },
  {
    name: 'cold_start_p95',
    title: 'cold start p95',
    unit: 'us',
    direction: 'lower',
    role: 'informational',
    description: '95th percentile of the cold starts.',
  },
  {
    name: 'cold_start_p99',
    title: 'cold start p99',
    unit: 'us',
    direction: 'lower',
    role: 'informational',
    description: '99th percentile of the cold starts.',
  },
  {
    name: 'image_size',
    title: 'image size',
    unit: 'bytes',
    direction: 'lower',
    role: 'gated',
    description: 'Uncompressed size of the image as the engine reports it.',
  },
] as const satisfies readonly (Omit<Metric, 'name'> & { name: string })[]

/** Three metrics of one distribution over a run. */
function percentiles<N extends string, U extends Unit>(name: N, title: string, unit: U, description: string) {
  const of = <P extends 'p50' | 'p95' | 'p99'>(percentile: P) =>
    ({
      name: `${name}_${percentile}`,
      title: `${title} ${percentile}`,
      unit,
      direction: 'lower',
      role: 'informational',
      description: `${description}, ${percentile} over the run.`,
    }) as const
  return [of('p50'), of('p95'), of('p99')] as const
}

/** The metric of a name. */
export function metric(name: MetricName): Metric {
  const found: Metric | undefined = METRICS.find((candidate) => candidate.name === name)
  if (found === undefined) throw new Error(`no metric ${name}`)
  return found
}
