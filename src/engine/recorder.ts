import type { EngineName } from '../model/plan.ts'
import {
  FAILURE_KINDS,
  type FailureKind,
  type LatencyRecord,
  type LoadRecord,
  type RequestRecord,
} from '../model/results.ts'
import { Histogram } from '../stats/histogram.ts'

/** What the recorder must know of a request. */
export interface RecordedRequest {
  readonly name: string
  /** Statuses that count as success; 200-299 when absent. */
  readonly status?: readonly number[]
}

/** A request on its way; given out by `send`, handed back once with its outcome. */
export interface Ticket {
  /** Index of the request. */
  readonly request: number
  /** Whether it was sent inside the window. */
  readonly inWindow: boolean
}

/** What the recorder cannot see. */
export interface RecordContext {
  readonly engine: { readonly name: EngineName; readonly version: string }
  readonly generator: LoadRecord['generator']
}

/**
 * Counts one run. Requests belong to the window in which they were sent; only `completedOk`, the bytes and the
 * connects belong to the window in which they happened. Knows no clock: times are passed in, in microseconds.
 */
export class Recorder {
  readonly #requests: readonly RequestTally[]
  readonly #timeoutUs: number
  readonly #pending = new Set<Ticket>()
  readonly #failures: Record<FailureKind, number> = {
    status: 0,
    timeout: 0,
    connect: 0,
    reset: 0,
    lost: 0,
    other: 0,
  }
  readonly #statuses = new Map<number, number>()
  #openedAtUs: number | undefined
  #closedAtUs: number | undefined
  #unanswered = 0
  #outcomes = 0
  #completedOk = 0
  #bytesIn = 0
  #bytesOut = 0
  readonly #connect = new LatencyTally()

  /** @param timeoutUs the least latency that a timeout is recorded with */
  constructor(requests: readonly RecordedRequest[], timeoutUs: number) {
    this.#requests = requests.map((request) => new RequestTally(request))
    this.#timeoutUs = timeoutUs
  }

  /** Requests sent inside the window that have no outcome yet. */
  get unanswered(): number {
    return this.#unanswered
  }

  /** Outcomes, successes and failures, that arrived inside the window, whenever sent. */
  get outcomes(): number {
    return this.#outcomes
  }

  get #isOpen(): boolean {
    return this.#openedAtUs !== undefined && this.#closedAtUs === undefined
  }

  open(atUs: number): void {
    if (this.#openedAtUs !== undefined) throw new Error('the window was opened twice')
    this.#openedAtUs = atUs
  }

  close(atUs: number): void {
    if (!this.#isOpen) throw new Error('the window was closed without being open')
    this.#closedAtUs = atUs
  }

  /** @param request index of the request */
  send(request: number): Ticket {
    const ticket: Ticket = { request, inWindow: this.#isOpen }
    this.#pending.add(ticket)
    if (ticket.inWindow) {
      this.#tally(ticket).sent++
      this.#unanswered++
    }
    return ticket
  }

  /**
   * A whole answer arrived: a success or, by its status, a failure.
   * @throws Error when the ticket had its outcome before.
   */
  answer(ticket: Ticket, status: number, latencyUs: number): void {
    const tally = this.#tally(ticket)
    const ok = tally.accepts(status)
    this.#settle(ticket)
    if (ok && this.#isOpen) this.#completedOk++
    if (!ticket.inWindow) return
    this.#statuses.set(status, (this.#statuses.get(status) ?? 0) + 1)
    if (ok) {
      tally.ok++
      tally.latency.record(latencyUs)
    } else {
      this.#failures.status++
    }
  }

  /**
   * No whole answer arrived. A timeout counts as a latency too: of what was waited, and at least the timeout.
   * @throws Error when the ticket had its outcome before.
   */
  fail(ticket: Ticket, kind: Exclude<FailureKind, 'status'>, waitedUs: number): void {
    this.#settle(ticket)
    if (!ticket.inWindow) return
    this.#failures[kind]++
    if (kind === 'timeout') this.#tally(ticket).latency.record(Math.max(waitedUs, this.#timeoutUs))
  }

  /** A TCP connection was opened, after so many microseconds. */
  connected(waitedUs: number): void {
    if (this.#isOpen) this.#connect.record(waitedUs)
  }

  received(bytes: number): void {
    if (this.#isOpen) this.#bytesIn += bytes
  }

  wrote(bytes: number): void {
    if (this.#isOpen) this.#bytesOut += bytes
  }

  /** @throws Error when the window was not closed, or when the counts contradict each other. */
  buildRecord(context: RecordContext): LoadRecord {
    if (this.#openedAtUs === undefined || this.#closedAtUs === undefined) {
      throw new Error('there is no record before the window was closed')
    }
    const all = new LatencyTally()
    for (const tally of this.#requests) all.add(tally.latency)
    const sent = sum(this.#requests.map((tally) => tally.sent))
    const ok = sum(this.#requests.map((tally) => tally.ok))
    const failed = sum(FAILURE_KINDS.map((kind) => this.#failures[kind]))
    if (sent !== ok + failed + this.#unanswered) {
      throw new Error(
        `${sent} requests were sent, but ${ok} ok + ${failed} failed + ${this.#unanswered} open`,
      )
    }
    return {
      engine: context.engine,
      windowUs: this.#closedAtUs - this.#openedAtUs,
      sent,
      ok,
      failures: { ...this.#failures },
      unanswered: this.#unanswered,
      completedOk: this.#completedOk,
      statuses: Object.fromEntries([...this.#statuses].sort(([a], [b]) => a - b)),
      bytesIn: this.#bytesIn,
      bytesOut: this.#bytesOut,
      connect: this.#connect.buildRecord(),
      latency: all.buildRecord(),
      requests: this.#requests.map((tally) => tally.buildRecord()),
      generator: context.generator,
    }
  }

  #settle(ticket: Ticket): void {
    if (!this.#pending.delete(ticket)) throw new Error('a request had two outcomes')
    if (ticket.inWindow) this.#unanswered--
    if (this.#isOpen) this.#outcomes++
  }

  #tally(ticket: Ticket): RequestTally {
    const tally = this.#requests[ticket.request]
    if (tally === undefined) throw new Error(`there is no request ${ticket.request}`)
    return tally
  }
}

class RequestTally {
  sent = 0
  ok = 0
  readonly latency = new LatencyTally()
  readonly #name: string
  readonly #status: ReadonlySet<number> | undefined

  constructor(request: RecordedRequest) {
    this.#name = request.name
    this.#status = request.status === undefined ? undefined : new Set(request.status)
  }

  accepts(status: number): boolean {
    return this.#status === undefined ? status >= 200 && status <= 299 : this.#status.has(status)
  }

  buildRecord(): RequestRecord {
    return { name: this.#name, sent: this.sent, ok: this.ok, latency: this.latency.buildRecord() }
  }
}

class LatencyTally {
  readonly #histogram = new Histogram()
  #sumUs = 0
  #sumSquaresUs = 0

  record(latencyUs: number): void {
    this.#histogram.record(latencyUs)
    this.#sumUs += latencyUs
    this.#sumSquaresUs += latencyUs * latencyUs
  }

  add(other: LatencyTally): void {
    this.#histogram.add(other.#histogram)
    this.#sumUs += other.#sumUs
    this.#sumSquaresUs += other.#sumSquaresUs
  }

  buildRecord(): LatencyRecord {
    return {
      count: this.#histogram.count,
      source: 'samples',
      omission: 'not-corrected',
      resolutionUs: 1,
      sumUs: this.#sumUs,
      sumSquaresUs: this.#sumSquaresUs,
      histogram: this.#histogram.encode(),
    }
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
