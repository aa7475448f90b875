import { markdownTable } from 'markdown-table'
import { escapeMarkdown, fence } from './escape.ts'
import type { BarChart, Detail, Note, Report, ReportGroup, Table } from './report.ts'

/** Renders a report as GitHub Markdown. */
export function renderMarkdown(report: Report): string {
  const blocks = [
    `# ${report.title}`,
    report.headline,
    ...report.groups.flatMap(renderGroup),
    '## How this was measured',
    report.facts.map(([name, value]) => `- **${name}**: ${escapeMarkdown(value)}`).join('\n'),
  ]
  return `${blocks.join('\n\n')}\n`
}

function renderGroup(group: ReportGroup): readonly string[] {
  return [
    `## ${escapeMarkdown(group.heading)}`,
    escapeMarkdown(group.load),
    renderTable(group.summary),
    ...group.notes.map(renderNote),
    ...(group.chart === undefined ? [] : [renderChart(group.chart)]),
    ...(group.resources === undefined ? [] : [renderTable(group.resources)]),
    ...group.details.map(renderDetail),
  ]
}

/** A table with aligned columns, readable as plain text too; each cell is written by `write`. */
export function renderTable(table: Table, write: WriteCell = writeCell): string {
  const rows = [table.columns.map(({ title }) => title), ...table.rows]
  return markdownTable(
    rows.map((row, line) =>
      row.map((text, at) => write(text, line > 0 && table.columns[at]?.align === 'right')),
    ),
    { align: table.columns.map(({ align }) => align), stringLength: (text) => [...text].length },
  )
}

/** @param isNumber whether it is a number with its unit */
type WriteCell = (text: string, isNumber: boolean) => string

/** A unit stays on the line of its number: the space between them is one that does not break. */
function writeCell(text: string, isNumber: boolean): string {
  const escaped = escapeMarkdown(text)
  return isNumber ? escaped.replaceAll(' ', '\u00a0') : escaped
}

function renderNote(note: Note): string {
  const kind = note.kind === 'failure' ? 'CAUTION' : 'WARNING'
  const text = `> [!${kind}]\n> **${escapeMarkdown(note.about)}**: ${escapeMarkdown(note.text)}`
  if (note.logTail.length === 0) return text
  const log = fence(note.logTail)
    .split('\n')
    .map((line) => `> ${line}`)
  return [text, '>', '> The last lines that it printed:', '>', ...log].join('\n')
}

function renderChart(chart: BarChart): string {
  const labels = chart.bars.map(({ label }) => JSON.stringify(label)).join(', ')
  const values = chart.bars.map(({ value }) => Number(value.toPrecision(4))).join(', ')
  return fence(
    [
      'xychart-beta',
      `  title ${JSON.stringify(chart.title)}`,
      `  x-axis [${labels}]`,
      // Without a range the axis would begin at the smallest bar.
      `  y-axis ${JSON.stringify(chart.axis)} 0 --> ${topOfAxis(chart)}`,
      `  bar [${values}]`,
    ],
    'mermaid',
  )
}

/** The highest bar, rounded up to half of its power of ten: 18 116 ends at 20 000, 728 at 800. */
function topOfAxis(chart: BarChart): number {
  const highest = Math.max(...chart.bars.map(({ value }) => value))
  if (highest <= 0) return 1
  const step = 10 ** Math.floor(Math.log10(highest)) / 2
  return Number((Math.ceil(highest / step) * step).toPrecision(3))
}

function renderDetail(detail: Detail): string {
  const width = Math.max(0, ...detail.lines.map(([name]) => name.length)) + 2
  const lines = detail.lines.map(([name, value]) => `${name.padEnd(width)}${value}`)
  return [
    `<details><summary>${escapeMarkdown(detail.heading)}</summary>`,
    ...(lines.length === 0 ? [] : [fence(lines)]),
    renderTable(detail.runs),
    '</details>',
  ].join('\n\n')
}
