/** What a report says, before it is text of any kind. */
export interface Report {
  readonly title: string
  /** One sentence that says how it went. */
  readonly headline: string
  readonly groups: readonly ReportGroup[]
  /** How and on what it was measured: name and value. */
  readonly facts: readonly (readonly [string, string])[]
}

/** All cases that differ in their CPU limit only: one table. */
export interface ReportGroup {
  readonly heading: string
  /** The load in one line. */
  readonly load: string
  readonly summary: Table
  /** Start, size and utilisation; absent when nothing of it was measured. */
  readonly resources?: Table
  /** Throughput by limit; absent with fewer than two limits. */
  readonly chart?: BarChart
  /** What may have moved a number, or why there is none. */
  readonly notes: readonly Note[]
  readonly details: readonly Detail[]
}

export interface Table {
  readonly columns: readonly Column[]
  readonly rows: readonly (readonly string[])[]
}

export interface Column {
  readonly title: string
  readonly align: 'left' | 'right'
}

export interface BarChart {
  readonly title: string
  readonly axis: string
  readonly bars: readonly { readonly label: string; readonly value: number }[]
}

export interface Note {
  /** Which cases it is about, e.g. `0.05 vCPU`. */
  readonly about: string
  readonly kind: 'warning' | 'failure'
  readonly text: string
  /** Last lines of the target's log. */
  readonly logTail: readonly string[]
}

/** One case at length. */
export interface Detail {
  readonly heading: string
  /** Name and value, to be aligned. */
  readonly lines: readonly (readonly [string, string])[]
  readonly runs: Table
}
