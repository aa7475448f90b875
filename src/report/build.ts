import { METRICS, type MetricName, metric } from '../model/metric.ts'
import type { Case, Load } from '../model/plan.ts'
import type { Results } from '../model/results.ts'
import { FAILURE_KINDS } from '../model/results.ts'
import { type CaseSummary, type JudgedRun, reliableQuantile, summarizeCase } from '../stats/summary.ts'
import {
  ABSENT,
  formatBytes,
  formatCount,
  formatDuration,
  formatLatency,
  formatRatio,
  formatValue,
} from './format.ts'
import type { BarChart, Detail, Note, Report, ReportGroup, Table } from './report.ts'

/** Derives the report from the results and nothing else. */
export function buildReport(results: Results): Report {
  const summaries = results.cases.flatMap((result) => {
    const benchCase = results.plan.cases.find((candidate) => candidate.id === result.id)
    if (benchCase === undefined) return []
    const image = results.images.find((candidate) => candidate.target === benchCase.target)
    return [summarizeCase(benchCase, result, image)]
  })
  return {
    title: 'Benchmark',
    headline: buildHeadline(results, summaries),
    groups: groupCases(summaries).map((group) => buildGroup(group, summaries)),
    facts: buildFacts(results, summaries),
  }
}

function buildHeadline(results: Results, summaries: readonly CaseSummary[]): string {
  const total = results.plan.cases.length
  const measured = summaries.filter(({ state }) => state.kind === 'measured').length
  const invalid = summaries.filter(({ state }) => state.kind === 'invalid').length
  const failed = summaries.filter(({ state }) => state.kind === 'failed').length
  const parts = [
    `${measured} of ${total} ${total === 1 ? 'case' : 'cases'} measured`,
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(invalid > 0 ? [`${invalid} invalid`] : []),
    ...(results.finishedAt === undefined ? [`interrupted after ${summaries.length}`] : []),
  ]
  return `${parts.join(', ')}.`
}

/** Cases that differ in their CPU limit only, in the order of the plan. */
function groupCases(summaries: readonly CaseSummary[]): readonly (readonly CaseSummary[])[] {
  const groups = new Map<string, CaseSummary[]>()
  for (const summary of summaries) {
    const { scenario, target, engine, load, limits } = summary.benchCase
    const key = JSON.stringify([scenario, target, engine, load.connections, limits.memoryBytes])
    groups.set(key, [...(groups.get(key) ?? []), summary])
  }
  return [...groups.values()]
}

function buildGroup(group: readonly CaseSummary[], all: readonly CaseSummary[]): ReportGroup {
  const [first] = group
  if (first === undefined) throw new Error('a group without cases')
  const chart = buildChart(group)
  const resources = buildResources(group)
  return {
    heading: nameGroup(first.benchCase, all),
    load: describeLoad(first),
    summary: buildSummary(group),
    notes: buildNotes(group),
    details: group.filter(({ runs }) => runs.length > 0).map(buildDetail),
    ...(chart === undefined ? {} : { chart }),
    ...(resources === undefined ? {} : { resources }),
  }
}

/** The scenario, and whatever else tells this group from the others. */
function nameGroup(benchCase: Case, all: readonly CaseSummary[]): string {
  const others = all
    .map((summary) => summary.benchCase)
    .filter(({ scenario }) => scenario === benchCase.scenario)
  const differs = (of: (other: Case) => unknown): boolean =>
    others.some((other) => of(other) !== of(benchCase))
  return [
    benchCase.scenario,
    ...(differs(({ target }) => target) ? [benchCase.target] : []),
    ...(differs(({ engine }) => engine) ? [benchCase.engine] : []),
    ...(differs(({ load }) => load.connections) ? [describeConnections(benchCase)] : []),
    ...(differs(({ limits }) => limits.memoryBytes)
      ? [
          benchCase.limits.memoryBytes === undefined
            ? 'no memory limit'
            : formatBytes(benchCase.limits.memoryBytes),
        ]
      : []),
  ].join(', ')
}

function describeLoad({ benchCase, runs }: CaseSummary): string {
  const { load, requests, limits } = benchCase
  const version = runs[0]?.run.load.engine.version
  return [
    version === undefined ? benchCase.engine : `${benchCase.engine} ${version}`,
    `closed model, ${describeConnections(benchCase)}`,
    load.connection === 'keep-alive' ? 'kept alive' : 'a new one per request',
    requests.map(({ method, path }) => (method === 'GET' ? path : `${method} ${path}`)).join(' '),
    `${benchCase.runs} ${benchCase.runs === 1 ? 'run' : 'runs'} of ${describeStop(load)} after ${formatDuration(load.warmupMs)} of warm-up`,
    ...(limits.memoryBytes === undefined ? [] : [`${formatBytes(limits.memoryBytes)} of memory`]),
  ].join('; ')
}

function describeConnections({ load }: Case): string {
  return `${load.connections} ${load.connections === 1 ? 'connection' : 'connections'}`
}

function describeStop({ stop }: Load): string {
  return stop.kind === 'duration' ? formatDuration(stop.durationMs) : `${stop.count} requests`
}

interface SummaryColumn {
  readonly title: string
  readonly cell: (summary: CaseSummary) => string
}

const metricColumn = (name: MetricName): SummaryColumn => ({
  title: metric(name).title,
  cell: (summary) => formatMetric(summary, name),
})

const SUMMARY_COLUMNS: readonly SummaryColumn[] = [
  metricColumn('throughput'),
  metricColumn('throughput_per_vcpu'),
  { title: 'runs', cell: spreadOfRuns },
  metricColumn('latency_p50'),
  metricColumn('latency_p90'),
  metricColumn('latency_p99'),
  { title: 'failures', cell: (summary) => String(countFailures(summary)) },
  metricColumn('cpu_time_per_request'),
  metricColumn('cpu_used'),
  metricColumn('throttled_ratio'),
]

function buildSummary(group: readonly CaseSummary[]): Table {
  return {
    columns: [
      { title: 'vCPU limit', align: 'left' },
      ...SUMMARY_COLUMNS.map(({ title }) => ({ title, align: 'right' }) as const),
      { title: 'bound', align: 'left' },
    ],
    rows: group.map((summary) => {
      const label = limitOf(summary.benchCase)
      if (summary.state.kind !== 'measured') {
        return [label, summary.state.kind, ...SUMMARY_COLUMNS.map(() => ABSENT)]
      }
      return [label, ...SUMMARY_COLUMNS.map(({ cell }) => cell(summary)), boundOf(summary)]
    }),
  }
}

/** Half of the distance between the lowest and the highest run: what the machine alone can make of a throughput. */
function spreadOfRuns(summary: CaseSummary): string {
  const throughput = summary.metrics.get('throughput')
  if (throughput?.range === undefined) return ABSENT
  const { low, high } = throughput.range
  return `±${formatRatio((high - low) / 2 / throughput.value)}`
}

function limitOf({ limits }: Case): string {
  return limits.cpus === undefined ? 'none' : String(limits.cpus)
}

function formatMetric(summary: CaseSummary, name: MetricName): string {
  return formatValue(summary.metrics.get(name)?.value, metric(name).unit)
}

function countFailures(summary: CaseSummary): number {
  return countingRuns(summary)
    .flatMap(({ run }) => [...FAILURE_KINDS.map((kind) => run.load.failures[kind]), run.load.unanswered])
    .reduce((sum, count) => sum + count, 0)
}

function countingRuns(summary: CaseSummary): readonly JudgedRun[] {
  return summary.runs.filter(
    ({ run, judgement }) => run.discarded === undefined && judgement.invalid === undefined,
  )
}

/** What set the throughput: the same in all runs, or each kind that occurred. */
function boundOf(summary: CaseSummary): string {
  const bounds = countingRuns(summary).map(({ judgement }) => judgement.bound.replace('-bound', ''))
  return [...new Set(bounds)].join(', ')
}

const RESOURCE_METRICS: readonly MetricName[] = [
  'cold_start',
  'cold_start_p95',
  'cold_start_p99',
  'cpu_utilization_p50',
  'cpu_utilization_p95',
  'cpu_utilization_p99',
  'memory_peak',
  'memory_utilization_p50',
  'memory_utilization_p95',
  'memory_utilization_p99',
  'image_size',
]

/** Only the columns in which some case has a number. */
function buildResources(group: readonly CaseSummary[]): Table | undefined {
  const shown = METRICS.filter(
    ({ name }) => RESOURCE_METRICS.includes(name) && group.some(({ metrics }) => metrics.has(name)),
  )
  if (shown.length === 0) return undefined
  return {
    columns: [
      { title: 'vCPU limit', align: 'left' },
      ...shown.map(({ title }) => ({ title, align: 'right' }) as const),
    ],
    rows: group.map((summary) => [
      limitOf(summary.benchCase),
      ...shown.map(({ name }) => formatMetric(summary, name)),
    ]),
  }
}

function buildChart(group: readonly CaseSummary[]): BarChart | undefined {
  const bars = group.flatMap((summary) => {
    const throughput = summary.metrics.get('throughput')
    const shown = summary.state.kind === 'measured' && throughput !== undefined
    return shown ? [{ label: limitOf(summary.benchCase), value: throughput.value }] : []
  })
  if (bars.length < 2) return undefined
  return { title: 'Throughput by vCPU limit', axis: 'req/s', bars }
}

/** The same text about several cases is said once. */
function buildNotes(group: readonly CaseSummary[]): readonly Note[] {
  const warnings = new Map<string, string[]>()
  const failures: Note[] = []
  for (const summary of group) {
    const about = labelOf(summary.benchCase)
    if (summary.state.kind === 'failed') {
      const { stage, message, logTail } = summary.state.failure
      failures.push({ about, kind: 'failure', text: `failed at ${stage}: ${message}`, logTail })
    }
    if (summary.state.kind === 'invalid') {
      failures.push({ about, kind: 'failure', text: `invalid: ${summary.state.reason}`, logTail: [] })
    }
    for (const text of summary.warnings) warnings.set(text, [...(warnings.get(text) ?? []), about])
  }
  const warningNotes = [...warnings].map(
    ([text, about]): Note => ({ about: about.join(', '), kind: 'warning', text, logTail: [] }),
  )
  return [...failures, ...warningNotes]
}

function labelOf(benchCase: Case): string {
  return benchCase.limits.cpus === undefined ? 'no CPU limit' : `${benchCase.limits.cpus} vCPU`
}

/** The lines of drill's and ab's reports, by which people know their services. */
function buildDetail(summary: CaseSummary): Detail {
  const runs = countingRuns(summary)
  const sum = (of: (run: JudgedRun['run']) => number): number =>
    runs.reduce((total, { run }) => total + of(run), 0)
  const quantileLine = (label: string, ratio: number): readonly [string, string] => {
    const value = reliableQuantile(summary.latency, ratio)
    return [label, value === undefined ? `${ABSENT} (too few requests)` : formatLatency(value)]
  }
  const lines: readonly (readonly [string, string])[] = [
    ['Time taken for tests', formatDuration(sum(({ load }) => load.windowUs / 1000))],
    ['Total requests', String(sum(({ load }) => load.sent))],
    ['Successful requests', String(sum(({ load }) => load.ok))],
    ['Failed requests', String(countFailures(summary))],
    ['Requests per second', `${formatMetric(summary, 'throughput')} [#/sec]`],
    quantileLine('Median time per request', 0.5),
    ['Average time per request', formatMetric(summary, 'latency_mean')],
    ['Sample standard deviation', formatMetric(summary, 'latency_stddev')],
    quantileLine("95.0'th percentile", 0.95),
    quantileLine("99.0'th percentile", 0.99),
    quantileLine("99.5'th percentile", 0.995),
    quantileLine("99.9'th percentile", 0.999),
    ['Longest request', formatMetric(summary, 'latency_max')],
    ['CPU time per request', formatMetric(summary, 'cpu_time_per_request')],
    ['Median time to connect', formatMetric(summary, 'connect_time')],
    ['Received', formatMetric(summary, 'bytes_in')],
    ['Sent', formatMetric(summary, 'bytes_out')],
  ]
  return {
    heading:
      summary.benchCase.limits.cpus === undefined
        ? 'vCPU limit: none'
        : `vCPU limit: ${summary.benchCase.limits.cpus}`,
    lines: runs.length === 0 ? [] : lines,
    runs: buildRunTable(summary),
  }
}

function buildRunTable({ runs }: CaseSummary): Table {
  const titles = [
    'run',
    'req/s',
    'mean',
    'failures',
    'CPU used',
    'throttled',
    'generator CPU',
    "Little's law",
    'others',
    'bound',
  ]
  return {
    columns: titles.map((title) => ({ title, align: title === 'bound' ? 'left' : 'right' })),
    rows: runs.map(({ run, judgement }) => {
      const shown = judgement.invalid === undefined
      const { load } = run
      const mean = load.latency.count === 0 ? undefined : load.latency.sumUs / load.latency.count
      return [
        String(run.index),
        shown ? formatCount(load.completedOk / (load.windowUs / 1e6)) : 'invalid',
        shown ? formatValue(mean, 'us') : ABSENT,
        formatRatio(judgement.errorRatio),
        formatValue(judgement.cpuUsedRatio, 'ratio'),
        formatValue(judgement.throttledRatio, 'ratio'),
        formatRatio(judgement.generatorRatio),
        judgement.littleRatio === undefined ? ABSENT : judgement.littleRatio.toFixed(2),
        `${(judgement.foreignCores + judgement.stealCores).toFixed(2)} cores`,
        run.discarded === undefined ? judgement.bound : `discarded: ${run.discarded}`,
      ]
    }),
  }
}

function buildFacts(
  results: Results,
  summaries: readonly CaseSummary[],
): readonly (readonly [string, string])[] {
  const { environment, plan, revision } = results
  const { docker } = environment
  const runs = summaries.flatMap((summary) => summary.runs.map(({ run }) => run))
  const limited = plan.cases.filter(({ limits }) => limits.cpus !== undefined)
  const periods = [...new Set(limited.map(({ limits }) => `${limits.periodUs / 1000} ms`))]
  return [
    [
      'Measured',
      `${results.startedAt.replace('T', ' ').replace(/\..*/, '')} UTC with bench-action ${results.tool.version}`,
    ],
    ...(revision === undefined
      ? []
      : [
          [
            'Commit',
            `${revision.sha.slice(0, 12)}${revision.branch === undefined ? '' : ` (${revision.branch})`}${revision.dirty ? ', with uncommitted changes' : ''}`,
          ] as const,
        ]),
    [
      'Machine',
      `${environment.cpuModel}, ${environment.cores} cores, ${formatBytes(environment.memoryBytes)}, ${environment.os}, Linux ${environment.kernel}${environment.runnerImage === undefined ? '' : `, runner image ${environment.runnerImage}`}`,
    ],
    ...(docker === undefined
      ? []
      : [
          [
            'Docker',
            `${docker.version}, ${docker.storageDriver}, cgroup v${environment.cgroupVersion}`,
          ] as const,
        ]),
    ...(periods.length === 0
      ? []
      : [
          [
            'CPU quota',
            `CFS period ${periods.join(', ')}: a request caught by an exhausted quota of q cores waits up to (1 - q) x period`,
          ] as const,
        ]),
    ...describePaths(runs),
    ['Order of cases', `shuffled by seed ${plan.seed}`],
  ]
}

const PATH_WORDS = {
  netns: "inside the target's network namespace, to 127.0.0.1",
  bridge: "to the container's address over the bridge (its kernel work is charged to the target)",
  url: 'to the URL: nothing is known of the network and the limits beyond it',
} as const

function describePaths(runs: readonly JudgedRun['run'][]): readonly (readonly [string, string])[] {
  const paths = [...new Set(runs.map(({ path }) => PATH_WORDS[path]))]
  const placements = [
    ...new Set(
      runs.map(({ placement, path }) =>
        placement.targetCpus.length === 0
          ? path === 'url'
            ? 'not pinned'
            : 'not pinned: target and generator share the cores'
          : `target on CPU ${placement.targetCpus.join(', ')}, generator on CPU ${placement.generatorCpus.join(', ')}`,
      ),
    ),
  ]
  if (runs.length === 0) return []
  return [
    ['Load path', paths.join('; ')],
    ['Pinning', placements.join('; ')],
  ]
}
