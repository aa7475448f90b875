import type { EngineName, Load, WeightedRequest } from '../model/plan.ts'
import type { LoadRecord } from '../model/results.ts'

/** A load generator behind one interface. */
export interface Engine {
  readonly name: EngineName
  /** Version of the tool. @throws UserError when it is not installed. */
  version(): Promise<string>
  /**
   * Loads the target once and says what it saw.
   * @throws Error when the generator itself failed: it did not start, crashed, or overran its kill timer.
   */
  run(job: EngineJob, context: EngineContext): Promise<LoadRecord>
}

/** What to send where. */
export interface EngineJob {
  /** Origin, e.g. `http://127.0.0.1:8080`. */
  readonly origin: string
  readonly requests: readonly [WeightedRequest, ...WeightedRequest[]]
  readonly load: Load
  /** Load before the window opens, in milliseconds: quota bursts and connects are over by then. */
  readonly settleMs: number
}

/** Where and how the generator's process runs, and who wants to know about it. */
export interface EngineContext {
  /** Argv put before the generator's own, e.g. `nsenter`, `-t`, `123`, `-n`, `taskset`, `-c`, `1`. */
  readonly prefix: readonly string[]
  readonly signal: AbortSignal
  /** Called when the measuring window opens and when it closes, so that counters are read at those moments. */
  readonly onWindow: (edge: 'open' | 'close') => void
}
