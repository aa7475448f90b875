import { describe, expect, test } from 'vitest'
import type { Case } from '../../src/model/plan.ts'
import type { CaseResult, Results } from '../../src/model/results.ts'
import { buildReport } from '../../src/report/build.ts'
import { renderMarkdown } from '../../src/report/markdown.ts'
import {
  createCase,
  createCaseResult,
  createFailures,
  createLatency,
  createResults,
  createRun,
  createTarget,
} from '../helpers/runs.ts'

/** Results of cases, one good run each unless told otherwise. */
function createResultsOf(
  cases: readonly [Case, ...Case[]],
  change: (benchCase: Case, index: number) => Partial<CaseResult> = () => ({}),
): Results {
  return createResults({
    plan: { cases },
    cases: cases.map((benchCase, index) =>
      createCaseResult({ id: benchCase.id, ...change(benchCase, index) }),
    ),
  })
}

const withCpus = (cpus: number | undefined): Case =>
  createCase({ limits: { periodUs: 100_000, ...(cpus === undefined ? {} : { cpus }) } })

test('a sweep over limits is one table, a chart and a detail each', () => {
  const results = createResultsOf([withCpus(0.5), withCpus(1), withCpus(undefined)], ({ limits }, index) => {
    const answers = 5_000 * (index + 1)
    const latency = createLatency([16_000 / (index + 1), answers])
    return {
      coldStarts: [{ firstAnswerUs: 6_000, totalUs: 210_000 }],
      runs: [
        createRun({
          load: { sent: answers, ok: answers, completedOk: answers, latency },
          usage: { cpuUs: 5_000_000 * (limits.cpus ?? 0.99) },
        }),
      ],
    }
  })
  expect(renderMarkdown(buildReport(results))).toMatchInlineSnapshot(`
    "# Benchmark

    3 of 3 cases measured.

    ## static-files

    autocannon 9.0.0; closed model, 16 connections; kept alive; /; 1 run of 5 s after 2 s of warm-up

    | vCPU limit | req/s | req/s / vCPU | runs |     p50 |     p90 |     p99 | failures | CPU / request | CPU used | throttled | bound |
    | :--------- | ----: | -----------: | ---: | ------: | ------: | ------: | -------: | ------------: | -------: | --------: | :---- |
    | 0.5        |  1000 |         2000 |    – | 16.0 ms | 16.0 ms | 16.0 ms |        0 |        500 µs |  100.0 % |    98.0 % | quota |
    | 1          |  2000 |         2000 |    – | 8.00 ms | 8.00 ms | 8.00 ms |        0 |        500 µs |  100.0 % |    98.0 % | quota |
    | none       |  3000 |            – |    – | 5.33 ms | 5.33 ms | 5.33 ms |        0 |        330 µs |        – |         – | cpu   |

    \`\`\`mermaid
    xychart-beta
      title "Throughput by vCPU limit"
      x-axis ["0.5", "1", "none"]
      y-axis "req/s" 0 --> 3000
      bar [1000, 2000, 3000]
    \`\`\`

    | vCPU limit | CPU utilisation p50 | CPU utilisation p95 | CPU utilisation p99 | memory peak | cold start p50 | cold start p95 | cold start p99 | image size |
    | :--------- | ------------------: | ------------------: | ------------------: | ----------: | -------------: | -------------: | -------------: | ---------: |
    | 0.5        |             100.0 % |             100.0 % |             100.0 % |     12.0 MB |        6.00 ms |        6.00 ms |        6.00 ms |    5.80 MB |
    | 1          |              50.0 % |              50.0 % |              50.0 % |     12.0 MB |        6.00 ms |        6.00 ms |        6.00 ms |    5.80 MB |
    | none       |                   – |                   – |                   – |     12.0 MB |        6.00 ms |        6.00 ms |        6.00 ms |    5.80 MB |

    <details><summary>vCPU limit: 0.5</summary>

    \`\`\`text
    Time taken for tests       5 s
    Total requests             5000
    Successful requests        5000
    Failed requests            0
    Requests per second        1000 [#/sec]
    Median time per request    16.0 ms
    Average time per request   16.0 ms
    Sample standard deviation  0 µs
    95.0'th percentile         16.0 ms
    99.0'th percentile         16.0 ms
    99.5'th percentile         16.0 ms
    99.9'th percentile         – (too few requests)
    Longest request            16.0 ms
    CPU time per request       500 µs
    Median time to connect     90.0 µs
    Received                   400 kB/s
    Sent                       100 kB/s
    \`\`\`

    | run | req/s |    mean | failures | CPU used | throttled | generator CPU | Little's law |     others | bound       |
    | --: | ----: | ------: | -------: | -------: | --------: | ------------: | -----------: | ---------: | :---------- |
    |   1 |  1000 | 16.0 ms |      0 % |  100.0 % |    98.0 % |        20.0 % |         1.00 | 0.00 cores | quota-bound |

    </details>

    <details><summary>vCPU limit: 1</summary>

    \`\`\`text
    Time taken for tests       5 s
    Total requests             10000
    Successful requests        10000
    Failed requests            0
    Requests per second        2000 [#/sec]
    Median time per request    8.00 ms
    Average time per request   8.00 ms
    Sample standard deviation  0 µs
    95.0'th percentile         8.00 ms
    99.0'th percentile         8.00 ms
    99.5'th percentile         8.00 ms
    99.9'th percentile         8.00 ms
    Longest request            8.00 ms
    CPU time per request       500 µs
    Median time to connect     90.0 µs
    Received                   400 kB/s
    Sent                       100 kB/s
    \`\`\`

    | run | req/s |    mean | failures | CPU used | throttled | generator CPU | Little's law |     others | bound       |
    | --: | ----: | ------: | -------: | -------: | --------: | ------------: | -----------: | ---------: | :---------- |
    |   1 |  2000 | 8.00 ms |      0 % |  100.0 % |    98.0 % |        20.0 % |         1.00 | 0.00 cores | quota-bound |

    </details>

    <details><summary>vCPU limit: none</summary>

    \`\`\`text
    Time taken for tests       5 s
    Total requests             15000
    Successful requests        15000
    Failed requests            0
    Requests per second        3000 [#/sec]
    Median time per request    5.33 ms
    Average time per request   5.33 ms
    Sample standard deviation  0 µs
    95.0'th percentile         5.33 ms
    99.0'th percentile         5.33 ms
    99.5'th percentile         5.33 ms
    99.9'th percentile         5.33 ms
    Longest request            5.33 ms
    CPU time per request       330 µs
    Median time to connect     90.0 µs
    Received                   400 kB/s
    Sent                       100 kB/s
    \`\`\`

    | run | req/s |    mean | failures | CPU used | throttled | generator CPU | Little's law |     others | bound     |
    | --: | ----: | ------: | -------: | -------: | --------: | ------------: | -----------: | ---------: | :-------- |
    |   1 |  3000 | 5.33 ms |      0 % |        – |         – |        20.0 % |         1.00 | 0.00 cores | cpu-bound |

    </details>

    ## How this was measured

    - **Measured**: 2026-01-02 03:04:05 UTC with bench-action 0.1.0
    - **Commit**: 0123456789ab \\(main\\)
    - **Machine**: Example CPU, 2 cores, 8.00 GB, Debian GNU/Linux 12 \\(bookworm\\), Linux 6.1.0
    - **Docker**: 28.0.0, overlay2, cgroup v2
    - **CPU quota**: CFS period 100 ms: a request caught by an exhausted quota of q cores waits up to \\(1 - q\\) x period
    - **Load path**: inside the target's network namespace, to 127.0.0.1
    - **Pinning**: target on CPU 0, generator on CPU 1
    - **Order of cases**: shuffled by seed 7
    "
  `)
})

test('a case that failed shows why and no number, and the others are there', () => {
  const results = createResultsOf([withCpus(0.05), withCpus(0.5), withCpus(1)], (_, index) => {
    if (index === 0) {
      const message = 'the target exited with code 1 before it was ready'
      return { runs: [], failure: { stage: 'ready', message, logTail: ['panic: no config'] } }
    }
    if (index === 1) return { runs: [createRun({ load: { failures: createFailures({ reset: 5_000 }) } })] }
    return { runs: [createRun({ usage: { cpuUs: 5_000_000 } })] }
  })
  const { headline, groups } = buildReport(results)
  expect(headline).toBe('1 of 3 cases measured, 1 failed, 1 invalid.')
  expect(groups[0]?.summary.rows).toMatchInlineSnapshot(`
    [
      [
        "0.05",
        "failed",
        "–",
        "–",
        "–",
        "–",
        "–",
        "–",
        "–",
        "–",
        "–",
        "–",
      ],
      [
        "0.5",
        "invalid",
        "–",
        "–",
        "–",
        "–",
        "–",
        "–",
        "–",
        "–",
        "–",
        "–",
      ],
      [
        "1",
        "1000",
        "1000",
        "–",
        "16.0 ms",
        "16.0 ms",
        "16.0 ms",
        "0",
        "1.00 ms",
        "100.0 %",
        "98.0 %",
        "quota",
      ],
    ]
  `)
  expect(groups[0]?.notes).toMatchInlineSnapshot(`
    [
      {
        "about": "0.05 vCPU",
        "kind": "failure",
        "logTail": [
          "panic: no config",
        ],
        "text": "failed at ready: the target exited with code 1 before it was ready",
      },
      {
        "about": "0.5 vCPU",
        "kind": "failure",
        "logTail": [],
        "text": "invalid: 100 % of 5000 requests failed (reset 5000)",
      },
    ]
  `)
  // One bar is no chart.
  expect(groups[0]).not.toHaveProperty('chart')
})

test.each([
  { total: 1, measured: 1, finished: true, headline: '1 of 1 case measured.' },
  { total: 2, measured: 2, finished: true, headline: '2 of 2 cases measured.' },
  { total: 2, measured: 1, finished: false, headline: '1 of 2 cases measured, interrupted after 1.' },
  { total: 2, measured: 0, finished: false, headline: '0 of 2 cases measured, interrupted after 0.' },
])('$measured of $total cases, finished: $finished', ({ total, measured, finished, headline }) => {
  const cases = [withCpus(0.5), withCpus(1)].slice(0, total) as [Case, ...Case[]]
  const results = createResultsOf(cases)
  expect(
    buildReport({
      ...results,
      cases: results.cases.slice(0, measured),
      ...(finished ? {} : { finishedAt: undefined }),
    }).headline,
  ).toBe(headline)
})

describe('groups', () => {
  test('differ in all but the CPU limit, and say in what', () => {
    const cases = [
      createCase({ id: 'a', load: { connections: 1 } }),
      createCase({ id: 'b', limits: { cpus: 1, periodUs: 100_000 }, load: { connections: 1 } }),
      createCase({ id: 'c' }),
      createCase({ id: 'd', limits: { cpus: 0.5, memoryBytes: 64_000_000, periodUs: 100_000 } }),
      createCase({ id: 'e', scenario: 'other' }),
    ] as const
    const { groups } = buildReport(createResultsOf([...cases]))
    expect(groups.map(({ heading, summary }) => [heading, summary.rows.map(([limit]) => limit)])).toEqual([
      ['static-files, 1 connection, no memory limit', ['0.5', '1']],
      ['static-files, 16 connections, no memory limit', ['0.5']],
      ['static-files, 16 connections, 64.0 MB', ['0.5']],
      ['other', ['0.5']],
    ])
  })

  test('keep what is called after two targets apart', () => {
    const results = createResults({
      plan: {
        targets: [createTarget(), createTarget({ name: 'other' })],
        cases: [createCase({ id: 'a' }), createCase({ id: 'b', target: 'other' })],
      },
      cases: [createCaseResult({ id: 'a' }), createCaseResult({ id: 'b' })],
    })
    expect(buildReport(results).groups.map(({ heading }) => heading)).toEqual([
      'static-files, static-files',
      'static-files, other',
    ])
  })
})

test('the load says what was sent and how', () => {
  const benchCase = createCase({
    runs: 3,
    limits: { cpus: 0.5, memoryBytes: 64_000_000, periodUs: 100_000 },
    load: {
      connections: 1,
      connection: 'per-request',
      stop: { kind: 'requests', count: 1_000 },
      warmupMs: 0,
    },
    requests: [
      { name: 'page', method: 'GET', path: '/', headers: {}, weight: 1 },
      { name: 'new', method: 'POST', path: '/items', headers: {}, weight: 2 },
    ],
  })
  expect(buildReport(createResultsOf([benchCase])).groups[0]?.load).toMatchInlineSnapshot(
    `"autocannon 9.0.0; closed model, 1 connection; a new one per request; / POST /items; 3 runs of 1000 requests after 0 s of warm-up; 64.0 MB of memory"`,
  )
})

test('the same warning of several cases is said once', () => {
  const results = createResultsOf([withCpus(0.5), withCpus(1)], ({ limits }) => ({
    runs: [createRun({ usage: { oomKills: 1, cpuUs: 5_000_000 * (limits.cpus ?? 1) } })],
  }))
  expect(buildReport(results).groups[0]?.notes.map(({ about, text }) => `${about}: ${text}`)).toEqual([
    '0.5 vCPU, 1 vCPU: the kernel killed a process of the target for want of memory: raise limits.memory',
  ])
})

test('what is too little for a quantile is said to be', () => {
  const latency = createLatency([16_000, 150])
  const load = { sent: 150, ok: 150, completedOk: 150, latency }
  const { groups } = buildReport(createResultsOf([withCpus(0.5)], () => ({ runs: [createRun({ load })] })))
  expect(groups[0]?.details[0]?.lines.filter(([, value]) => value.includes('too few'))).toEqual([
    ["95.0'th percentile", '– (too few requests)'],
    ["99.0'th percentile", '– (too few requests)'],
    ["99.5'th percentile", '– (too few requests)'],
    ["99.9'th percentile", '– (too few requests)'],
  ])
})

test('discarded and invalid runs stay in the list of runs, and out of the sums', () => {
  const runs = [
    createRun({ index: 1, discarded: 'the host was taken away: others used 0.62 cores' }),
    createRun({ index: 2, load: { failures: createFailures({ timeout: 5_000 }) } }),
    createRun({ index: 3 }),
  ]
  const detail = buildReport(createResultsOf([withCpus(0.5)], () => ({ runs }))).groups[0]?.details[0]
  expect(detail?.runs.rows).toMatchInlineSnapshot(`
    [
      [
        "1",
        "1000",
        "16.0 ms",
        "0 %",
        "100.0 %",
        "98.0 %",
        "20.0 %",
        "1.00",
        "0.00 cores",
        "discarded: the host was taken away: others used 0.62 cores",
      ],
      [
        "2",
        "invalid",
        "–",
        "100.0 %",
        "100.0 %",
        "98.0 %",
        "20.0 %",
        "1.00",
        "0.00 cores",
        "quota-bound",
      ],
      [
        "3",
        "1000",
        "16.0 ms",
        "0 %",
        "100.0 %",
        "98.0 %",
        "20.0 %",
        "1.00",
        "0.00 cores",
        "quota-bound",
      ],
    ]
  `)
  expect(detail?.lines.find(([name]) => name === 'Total requests')).toEqual(['Total requests', '5000'])
})

test('a url target has no table of resources, and no word of Docker', () => {
  const results = createResults({
    revision: undefined,
    environment: { ...createResults().environment, docker: undefined },
    images: [],
    plan: {
      targets: [createTarget({ source: { kind: 'url', url: 'http://127.0.0.1:8080' } })],
      cases: [withCpus(undefined)],
    },
    cases: [
      createCaseResult({
        id: withCpus(undefined).id,
        runs: [
          createRun({ usage: undefined, path: 'url', placement: { targetCpus: [], generatorCpus: [] } }),
        ],
      }),
    ],
  })
  const { groups, facts } = buildReport(results)
  expect(groups[0]).not.toHaveProperty('resources')
  expect(facts).toMatchInlineSnapshot(`
    [
      [
        "Measured",
        "2026-01-02 03:04:05 UTC with bench-action 0.1.0",
      ],
      [
        "Machine",
        "Example CPU, 2 cores, 8.00 GB, Debian GNU/Linux 12 (bookworm), Linux 6.1.0",
      ],
      [
        "Load path",
        "to the URL: nothing is known of the network and the limits beyond it",
      ],
      [
        "Pinning",
        "not pinned",
      ],
      [
        "Order of cases",
        "shuffled by seed 7",
      ],
    ]
  `)
})
