import { describe, expect, test } from 'vitest'
import { renderMarkdown, renderTable } from '../../src/report/markdown.ts'
import type { Report, ReportGroup, Table } from '../../src/report/report.ts'

const TABLE: Table = {
  columns: [
    { title: 'vCPU limit', align: 'left' },
    { title: 'req/s', align: 'right' },
  ],
  rows: [
    ['0.05', '54.5'],
    ['none', '12345'],
  ],
}

const GROUP: ReportGroup = {
  heading: 'static-files',
  load: 'autocannon 9.0.0; closed model, 16 connections',
  summary: TABLE,
  notes: [],
  details: [],
}

function render(group: Partial<ReportGroup>, report: Partial<Report> = {}): string {
  return renderMarkdown({
    title: 'Benchmark',
    headline: '1 of 1 case measured.',
    groups: [{ ...GROUP, ...group }],
    facts: [['Seed', '7']],
    ...report,
  })
}

test('a report of one group', () => {
  expect(render({})).toMatchInlineSnapshot(`
    "# Benchmark

    1 of 1 case measured.

    ## static-files

    autocannon 9.0.0; closed model, 16 connections

    | vCPU limit | req/s |
    | :--------- | ----: |
    | 0.05       |  54.5 |
    | none       | 12345 |

    ## How this was measured

    - **Seed**: 7
    "
  `)
})

test('charts, resources and details follow the summary', () => {
  const text = render({
    resources: { columns: [{ title: 'image size', align: 'right' }], rows: [['5.80 MB']] },
    chart: {
      title: 'Throughput by vCPU limit',
      axis: 'req/s',
      bars: [
        { label: '0.05', value: 54.51234 },
        { label: '0.1', value: 123_456.7 },
      ],
    },
    details: [
      {
        heading: 'vCPU limit: 0.05',
        lines: [
          ['Total requests', '5000'],
          ['Received', '400 kB/s'],
        ],
        runs: { columns: [{ title: 'run', align: 'right' }], rows: [['1']] },
      },
      {
        heading: 'vCPU limit: 0.1',
        lines: [],
        runs: { columns: [{ title: 'run', align: 'right' }], rows: [] },
      },
    ],
  })
  expect(text).toMatchInlineSnapshot(`
    "# Benchmark

    1 of 1 case measured.

    ## static-files

    autocannon 9.0.0; closed model, 16 connections

    | vCPU limit | req/s |
    | :--------- | ----: |
    | 0.05       |  54.5 |
    | none       | 12345 |

    \`\`\`mermaid
    xychart-beta
      title "Throughput by vCPU limit"
      x-axis ["0.05", "0.1"]
      y-axis "req/s" 0 --> 150000
      bar [54.51, 123500]
    \`\`\`

    | image size |
    | ---------: |
    |    5.80 MB |

    <details><summary>vCPU limit: 0.05</summary>

    \`\`\`text
    Total requests  5000
    Received        400 kB/s
    \`\`\`

    | run |
    | --: |
    |   1 |

    </details>

    <details><summary>vCPU limit: 0.1</summary>

    | run |
    | --: |

    </details>

    ## How this was measured

    - **Seed**: 7
    "
  `)
})

test('a failure shows the end of the log inside its box, which no line of it can leave', () => {
  const text = render({
    notes: [
      {
        about: '0.05 vCPU',
        kind: 'failure',
        text: 'failed at ready: exit code 1\n  error: | `x` <b> @octocat\n\n## done',
        logTail: [
          'plain',
          '',
          '```',
          '</details> @octocat | x',
          '``\u001b[0m``',
          '\u001b[31mred\u001b[0m\rover',
          'a\u2028b',
        ],
      },
      { about: '0.05 vCPU, 0.1 vCPU', kind: 'warning', text: 'others used 0.05 cores', logTail: [] },
    ],
  })
  expect(text).toMatchInlineSnapshot(`
    "# Benchmark

    1 of 1 case measured.

    ## static-files

    autocannon 9.0.0; closed model, 16 connections

    | vCPU limit | req/s |
    | :--------- | ----: |
    | 0.05       |  54.5 |
    | none       | 12345 |

    > [!CAUTION]
    > **0.05 vCPU**: failed at ready: exit code 1 error: \\| \\\`x\\\` &lt;b&gt; @​octocat \\#\\# done
    >
    > The last lines that it printed:
    >
    > \`\`\`\`\`text
    > plain
    > 
    > \`\`\`
    > </details> @octocat | x
    > \`\`\`\`
    > redover
    > a b
    > \`\`\`\`\`

    > [!WARNING]
    > **0.05 vCPU, 0.1 vCPU**: others used 0.05 cores

    ## How this was measured

    - **Seed**: 7
    "
  `)
})

test('names from outside are text wherever they stand', () => {
  const text = render(
    {
      heading: 'a | b\n# c',
      load: '/<script>?q=[x](http://example.com) `y`',
      summary: { columns: [{ title: 'x', align: 'left' }], rows: [['a | b\nc']] },
      details: [
        {
          heading: '</summary><img src=x>',
          lines: [],
          runs: { columns: [{ title: 'bound', align: 'left' }], rows: [['discarded: *a* | b']] },
        },
      ],
    },
    { facts: [['Commit', '0123 (fix/#12-@octocat\r## x)']] },
  )
  expect(text).toMatchInlineSnapshot(`
    "# Benchmark

    1 of 1 case measured.

    ## a \\| b \\# c

    /&lt;script&gt;?q=\\[x\\]\\(http:​//example.com\\) \\\`y\\\`

    | x        |
    | :------- |
    | a \\| b c |

    <details><summary>&lt;/summary&gt;&lt;img src=x&gt;</summary>

    | bound                 |
    | :-------------------- |
    | discarded: \\*a\\* \\| b |

    </details>

    ## How this was measured

    - **Commit**: 0123 \\(fix/\\#​12-@​octocat \\#\\# x\\)
    "
  `)
})

describe('renderTable', () => {
  test('lines columns up by characters, not by code units', () => {
    const table: Table = { columns: TABLE.columns, rows: [['🚀🚀', '1']] }
    expect(renderTable(table, (text) => text)).toMatchInlineSnapshot(`
      "| vCPU limit | req/s |
      | :--------- | ----: |
      | 🚀🚀         |     1 |"
    `)
  })

  test('of no rows is its head', () => {
    expect(renderTable({ columns: TABLE.columns, rows: [] })).toMatchInlineSnapshot(`
      "| vCPU limit | req/s |
      | :--------- | ----: |"
    `)
  })
})
