/** What the runner tells while it works; sinks turn it into a progress line or a log. */
export type Progress =
  /** A target's image is being built or pulled. */
  | { readonly kind: 'image'; readonly target: string }
  /** A line that the builder printed. */
  | { readonly kind: 'build-line'; readonly line: string }
  /** A case begins; `index` counts from 1. */
  | { readonly kind: 'case'; readonly id: string; readonly index: number; readonly total: number }
  /** Something inside the case begins, e.g. `run 2 of 3`; it will take about `expectedMs`. */
  | { readonly kind: 'step'; readonly title: string; readonly expectedMs?: number }
  /** What a finished case is to show, e.g. `1 068 req/s`, or why it failed. */
  | { readonly kind: 'case-end'; readonly id: string; readonly outcome: string; readonly failed: boolean }
  | { readonly kind: 'warning'; readonly text: string }

export type OnProgress = (progress: Progress) => void
