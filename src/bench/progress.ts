/** What the runner tells while it works; sinks turn it into a progress line or a log. */
export type Progress =
  /** A target's image is being built or pulled. */
  | { readonly kind: 'image'; readonly target: string }
  /** A line that the builder printed. */
  | { readonly kind: 'build-line'; readonly line: string }
  /** A case begins; `index` counts from 1. `loads` says how much of the whole load is behind us. */
  | {
      readonly kind: 'case'
      readonly id: string
      readonly index: number
      readonly total: number
      readonly loads?: LoadTime
    }
  /** Something inside the case begins, e.g. `run 2 of 3`. */
  | { readonly kind: 'step'; readonly title: string }
  /** What a finished case is to show, e.g. `1 068 req/s`, or why it failed. */
  | { readonly kind: 'case-end'; readonly id: string; readonly outcome: string; readonly failed: boolean }
  | { readonly kind: 'warning'; readonly text: string }

export type OnProgress = (progress: Progress) => void

/** Time of load in milliseconds; known when every case has a duration. */
export interface LoadTime {
  readonly doneMs: number
  readonly totalMs: number
}
