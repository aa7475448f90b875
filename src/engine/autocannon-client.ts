import type { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { connect as connectPlain, isIP } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { ConnectionPolicy } from '../model/plan.ts'
import type { FailureKind } from '../model/results.ts'
import type { Recorder, Ticket } from './recorder.ts'

/** What the repair uses of autocannon 9's client (`lib/httpClient.js`); most of it is not in its public types. */
export interface AutocannonClient extends EventEmitter {
  readonly opts: { readonly hostname: string; readonly port: number | string; readonly servername?: string }
  readonly secure: boolean
  readonly destroyed: boolean
  timeout: number
  conn: Socket | undefined
  parser: Parser
  readonly requestIterator: {
    readonly requests: readonly [BuiltRequest, ...BuiltRequest[]]
    currentRequest: BuiltRequest
    nextRequest(): BuiltRequest
  }
  readonly pipelinedRequests: { size(): number; clear(): void; addByteCount(count: number): void }
  _connect(): void
  _doRequest(): void
  _destroyConnection(): void
}

interface BuiltRequest {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  requestBuffer: Buffer
}

/** http-parser-js's parser of responses. */
interface Parser {
  readonly constructor: ParserClass
  readonly state: string
  readonly line: string
  execute(chunk: Buffer): number | Error
  finish(): Error | undefined
  [callback: number]: ((...args: never[]) => unknown) | undefined
}

interface ParserClass {
  new (type: string): Parser
  readonly RESPONSE: string
  readonly kOnHeadersComplete: number
  readonly kOnBody: number
  readonly kOnMessageComplete: number
}

interface ResponseInfo {
  readonly statusCode: number
  readonly versionMinor: number
  readonly shouldKeepAlive: boolean
  /** Names and values in turn. */
  readonly headers: readonly string[]
}

/** What the connections of a load have in common, and which of them this is. */
export interface RepairOptions {
  readonly recorder: Recorder
  /** Order of the requests, as indices; endless by repetition. */
  readonly sequence: readonly [number, ...number[]]
  /** Where in `sequence` this connection starts. */
  readonly offset: number
  readonly policy: ConnectionPolicy
  readonly timeoutMs: number
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number
  /** Called after each outcome, before the next request is sent. */
  readonly onOutcome: () => void
}

/** Pause before a connection is tried again, in milliseconds: doubled from first to last, so that a dead target is no hot loop. */
const FIRST_PAUSE_MS = 10
const LAST_PAUSE_MS = 100

/** A service that drops some connections is loaded on without a pause; one that drops so many in a row is paused for. */
const DROPS_BEFORE_PAUSE = 3

/** How long a server that announced to close a connection may take for it, in milliseconds. */
const LINGER_MS = 1_000

/** autocannon's own timer cannot tell a waiting connection from a pausing one; ours does, and its is put off for 24 days. */
const NEVER_MS = 2 ** 31 - 1

const REQUIRED_METHODS = ['_connect', '_doRequest', '_destroyConnection'] as const

/**
 * Repairs one connection of autocannon, to be called from its `setupClient` hook.
 *
 * autocannon 9 keeps a request queued when its connection goes away, and measures every later answer of the new
 * connection from an older request; lost requests are counted nowhere; it writes into connections that the server
 * said it would close; a response that ends with its connection never ends; what arrives late on an old connection
 * goes into the parser of the new one; a refused connection is tried again at once. Here each connection has a parser
 * of its own, and each request exactly one outcome, told to the recorder. What remains autocannon's: building the
 * requests, writing them, taking their time, and its `response` event.
 *
 * Latency is from writing the request to the last byte of the answer, as wrk measures it: connecting is not in it,
 * also when every request has a connection of its own (oha counts it in). It costs throughput, and it counts towards
 * the timeout. A request counts as sent when its connection is asked for.
 *
 * @throws Error when this is not the client that the repair was written for.
 */
export function repairClient(client: AutocannonClient, options: RepairOptions): void {
  for (const method of REQUIRED_METHODS) {
    if (typeof client[method] !== 'function') {
      throw new Error(`autocannon's client has no ${method}: the repair does not fit this version`)
    }
  }
  new Repair(client, options).install()
}

class Repair {
  readonly #client: AutocannonClient
  readonly #options: RepairOptions
  readonly #write: () => void
  /** The parser that autocannon made. */
  #original: Parser | undefined
  #position: number
  #ticket: Ticket | undefined
  #beganMs = 0
  /** Ready to be written to: TCP and TLS are up. */
  #ready = false
  /** The connection takes no further request. */
  #closing = false
  /** The server said that it closes it itself. */
  #closedByServer = false
  #parsing = false
  #answered = false
  #interim = false
  #connectFailures = 0
  #drops = 0
  #pause: NodeJS.Timeout | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(client: AutocannonClient, options: RepairOptions) {
    this.#client = client
    this.#options = options
    this.#position = options.offset
    this.#write = client._doRequest.bind(client)
  }

  install(): void {
    const client = this.#client
    client.timeout = NEVER_MS
    client.requestIterator.nextRequest = () => client.requestIterator.currentRequest
    client._connect = () => this.#begin()
    client._destroyConnection = () => this.#shutDown()
    client._doRequest = () => {
      // autocannon asks for the next request from inside the parser, where more of this chunk may be waiting.
      if (this.#parsing) this.#answered = true
      else this.#next()
    }
    client.on('response', (status: number, _bytes: number, durationMs: number) => {
      const ticket = this.#takeTicket()
      if (ticket === undefined) return
      this.#connectFailures = 0
      this.#drops = 0
      this.#options.recorder.answer(ticket, status, durationMs * 1_000)
      this.#options.onOutcome()
    })
  }

  #next(): void {
    if (this.#closing) this.#retire()
    this.#begin()
  }

  #begin(): void {
    const client = this.#client
    if (client.destroyed) return
    const { sequence, recorder } = this.#options
    const index = sequence[this.#position++ % sequence.length] ?? 0
    client.requestIterator.currentRequest =
      client.requestIterator.requests[index] ?? client.requestIterator.requests[0]
    this.#ticket = recorder.send(index)
    this.#beganMs = this.#options.now()
    this.#timer ??= setTimeout(() => this.#checkTimeout(), this.#options.timeoutMs)
    if (this.#ready) this.#send()
    else this.#open()
  }

  #send(): void {
    this.#options.recorder.wrote(this.#client.requestIterator.currentRequest.requestBuffer.length)
    this.#write()
  }

  #open(): void {
    const client = this.#client
    const { recorder } = this.#options
    const dialledMs = this.#options.now()
    const conn = this.#dial()
    const parser = this.#buildParser()
    client.conn = conn
    client.parser = parser
    this.#closing = false
    this.#closedByServer = false
    this.#interim = false
    // Without it a body that does not fit into one segment waits for the acknowledgement of the first.
    conn.setNoDelay(true)

    conn.on('connect', () => recorder.connected((this.#options.now() - dialledMs) * 1_000))
    conn.on(client.secure ? 'secureConnect' : 'connect', () => {
      if (conn !== client.conn) return
      this.#ready = true
      this.#send()
    })
    conn.on('data', (chunk: Buffer) => {
      if (conn !== client.conn) return
      recorder.received(chunk.length)
      this.#parse(parser, chunk)
    })
    conn.on('end', () => {
      if (conn !== client.conn) return
      if (parser.state === 'BODY_RAW') this.#finish(parser)
      else this.#drop('lost')
    })
    conn.on('error', (error: NodeJS.ErrnoException) => {
      if (conn !== client.conn) return
      if (!this.#ready) this.#drop('connect')
      else this.#drop(error.code === 'ECONNRESET' || error.code === 'EPIPE' ? 'reset' : 'other')
    })
    conn.on('close', () => {
      if (conn === client.conn) this.#drop(this.#ready ? 'lost' : 'connect')
    })
  }

  #dial(): Socket {
    const { secure, opts } = this.#client
    const port = Number(opts.port)
    if (!secure) return connectPlain(port, opts.hostname)
    const servername = opts.servername ?? (isIP(opts.hostname) === 0 ? opts.hostname : undefined)
    return connectTls({
      port,
      host: opts.hostname,
      // A load test says nothing about certificates, and services under test sign their own.
      rejectUnauthorized: false,
      ...(servername === undefined ? {} : { servername }),
    })
  }

  /** A parser that calls what autocannon's own calls, less what is not a final answer to a request that is waiting. */
  #buildParser(): Parser {
    const client = this.#client
    // Its callbacks are set after the hook, and before the first connection is asked for.
    this.#original ??= client.parser
    const model = this.#original.constructor
    const onHeaders: unknown = this.#original[model.kOnHeadersComplete]
    const onMessage: unknown = this.#original[model.kOnMessageComplete]
    if (!isCallback(onHeaders) || !isCallback(onMessage)) {
      throw new Error("autocannon's parser has no callbacks: the repair does not fit this version")
    }
    const parser = new model(model.RESPONSE)
    parser[model.kOnBody] = () => {}
    parser[model.kOnHeadersComplete] = (info: ResponseInfo) => {
      this.#interim = info.statusCode < 200 && info.statusCode !== 101
      if (this.#interim) return false
      onHeaders(info)
      const withoutBody = client.requestIterator.currentRequest.method === 'HEAD'
      this.#closedByServer = withoutBody ? !keepsAlive(info) : !info.shouldKeepAlive
      this.#closing =
        this.#closedByServer || info.statusCode === 101 || this.#options.policy === 'per-request'
      return withoutBody
    }
    parser[model.kOnMessageComplete] = () => {
      if (this.#interim) this.#interim = false
      else if (client.pipelinedRequests.size() > 0) onMessage()
      // An answer to nothing: what else this connection brings cannot be told apart.
      else this.#closing = true
    }
    return parser
  }

  #parse(parser: Parser, chunk: Buffer): void {
    this.#client.pipelinedRequests.addByteCount(chunk.length)
    this.#parsing = true
    const parsed = parser.execute(chunk)
    this.#parsing = false
    if (this.#client.parser !== parser || this.#client.destroyed) return
    if (this.#answered) {
      this.#answered = false
      // What follows a whole answer would be taken for the answer to the next request.
      if (typeof parsed !== 'number' || parser.state !== 'RESPONSE_LINE' || parser.line !== '') {
        this.#closing = true
        this.#closedByServer = false
      }
      this.#next()
    } else if (typeof parsed !== 'number') {
      this.#drop('other')
    }
  }

  /** The end of the connection was the end of the answer. */
  #finish(parser: Parser): void {
    this.#parsing = true
    parser.finish()
    this.#parsing = false
    this.#closing = true
    this.#closedByServer = true
    if (!this.#answered) return
    this.#answered = false
    this.#next()
  }

  #checkTimeout(): void {
    this.#timer = undefined
    if (this.#ticket === undefined) return
    const leftMs = this.#options.timeoutMs - (this.#options.now() - this.#beganMs)
    // Timers may fire up to a millisecond early.
    if (leftMs < 1) this.#drop('timeout')
    else this.#timer = setTimeout(() => this.#checkTimeout(), leftMs)
  }

  /** Gives up the connection and the request on it, and goes on with the next. */
  #drop(kind: Exclude<FailureKind, 'status'>): void {
    this.#discard()
    const ticket = this.#takeTicket()
    if (ticket !== undefined) {
      this.#options.recorder.fail(ticket, kind, (this.#options.now() - this.#beganMs) * 1_000)
      this.#options.onOutcome()
    }
    if (this.#client.destroyed) return
    // Who waited for a timeout has paused already.
    if (kind === 'connect') this.#connectFailures++
    else if (kind !== 'timeout') this.#drops++
    const steps = Math.max(this.#connectFailures, this.#drops - DROPS_BEFORE_PAUSE + 1)
    if (steps <= 0 || kind === 'timeout') this.#begin()
    else {
      const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** (steps - 1), LAST_PAUSE_MS)
      this.#pause = setTimeout(() => this.#begin(), pauseMs)
    }
  }

  #takeTicket(): Ticket | undefined {
    const ticket = this.#ticket
    this.#ticket = undefined
    return ticket
  }

  /** Leaves a connection whose last answer is here. A server that closes it itself keeps the TIME_WAIT, and we our ports. */
  #retire(): void {
    const { conn } = this.#client
    if (conn === undefined) return
    this.#detach(conn)
    if (this.#closedByServer) conn.setTimeout(LINGER_MS, () => conn.destroy())
    else conn.destroy()
  }

  #discard(): void {
    const { conn } = this.#client
    if (conn === undefined) return
    this.#detach(conn)
    conn.destroy()
  }

  #detach(conn: Socket): void {
    // Its listeners stay, and see that it is not the current one any more.
    if (this.#client.conn === conn) this.#client.conn = undefined
    this.#client.pipelinedRequests.clear()
    this.#ready = false
    this.#answered = false
  }

  #shutDown(): void {
    clearTimeout(this.#pause)
    clearTimeout(this.#timer)
    this.#discard()
  }
}

type Callback = (...args: readonly unknown[]) => unknown

function isCallback(value: unknown): value is Callback {
  return typeof value === 'function'
}

/** Whether an answer without a body leaves its connection open; the parser takes a HEAD's for one that ends with it. */
function keepsAlive(info: ResponseInfo): boolean {
  const values = info.headers.filter(
    (_, at) => at % 2 === 1 && info.headers[at - 1]?.toLowerCase() === 'connection',
  )
  const connection = values.join(',').toLowerCase()
  return info.versionMinor > 0 ? !connection.includes('close') : connection.includes('keep-alive')
}
