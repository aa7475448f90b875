import http from 'node:http'
import https from 'node:https'

/** One request to an origin, for checks and preparation; load is the engines' business. */
export interface HttpCall {
  readonly origin: string
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly timeoutMs: number
  readonly signal: AbortSignal
  /** Keeps connections open between calls. @default a new connection per call */
  readonly agent?: http.Agent
}

export interface HttpAnswer {
  readonly status: number
  readonly body: string
}

/** There was no complete answer, and why. */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError'
}

const BODY_CAP_BYTES = 8 * 1024 * 1024

/**
 * Sends a request and reads the answer, at most 8 MiB of it.
 * @throws NoAnswerError when no complete answer comes within the timeout
 */
export function sendRequest(call: HttpCall): Promise<HttpAnswer> {
  // Timers take whole milliseconds only, and what is left of some time seldom is.
  const timeout = AbortSignal.timeout(Math.ceil(call.timeoutMs))
  const signal = AbortSignal.any([call.signal, timeout])
  const url = new URL(call.path, call.origin)
  const { request } = url.protocol === 'https:' ? https : http
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void => {
      const why = timeout.aborted ? `nothing within ${Math.ceil(call.timeoutMs)} ms` : error.message
      reject(new NoAnswerError(why, { cause: error }))
    }
    const headers = call.body === undefined ? {} : { 'content-length': String(Buffer.byteLength(call.body)) }
    const outgoing = request(
      url,
      {
        method: call.method,
        headers: { ...headers, ...call.headers },
        signal,
        agent: call.agent ?? false,
        // As the engines do: services under test sign their own certificates.
        rejectUnauthorized: false,
      },
      (answer) => {
        const chunks: Buffer[] = []
        let bytes = 0
        answer.on('data', (chunk: Buffer) => {
          bytes += chunk.length
          if (bytes <= BODY_CAP_BYTES) chunks.push(chunk)
        })
        answer.on('error', fail)
        answer.on('end', () =>
          resolve({ status: answer.statusCode ?? 0, body: Buffer.concat(chunks).toString('utf8') }),
        )
      },
    )
    outgoing.on('error', fail)
    outgoing.end(call.body)
  })
}
