import http from 'node:http'
import https from 'node:https'
import net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { type HttpAnswer, NoAnswerError, sendRequest } from '../lib/http.ts'
import type { WeightedRequest } from '../model/plan.ts'
import type { Failure } from '../model/results.ts'
import type { HttpRequest, PrepareStep, Readiness, Target, Verification } from '../model/target.ts'
import type { Service } from './service.ts'

/** A case that cannot go on: at which stage and why. The log's tail is added by who catches it. */
export class CaseError extends Error {
  override readonly name = 'CaseError'
  readonly stage: Failure['stage']
  constructor(stage: Failure['stage'], message: string) {
    super(message)
    this.stage = stage
  }
}

/** Polling faster would take a small quota away from the start that it waits for. */
const POLL_MS = 5
const COMMAND_POLL_MS = 100
/** How often the engine is asked whether the container still runs. */
const ALIVE_CHECK_MS = 500
const REQUEST_TIMEOUT_MS = 30_000
const MIN_ATTEMPT_MS = 1000

/**
 * Waits until a service is ready and returns the moment of its first correct answer, on `performance.now()`'s clock.
 * Readiness `http` is a 2xx at its path; `tcp` an accepted connection and then any answer to `first`; `command` exit code 0.
 * @throws CaseError when the service ends, or is not ready in time.
 */
export async function awaitReady(
  service: Service,
  ready: Readiness,
  first: WeightedRequest,
  signal: AbortSignal,
): Promise<number> {
  const over = new AbortController()
  const either = AbortSignal.any([signal, over.signal])
  try {
    return await Promise.race([pollReady(service, ready, first, either), failWhenEnded(service, either)])
  } catch (error) {
    signal.throwIfAborted()
    throw error
  } finally {
    over.abort()
  }
}

async function pollReady(
  service: Service,
  ready: Readiness,
  first: WeightedRequest,
  signal: AbortSignal,
): Promise<number> {
  const deadline = performance.now() + ready.timeoutMs
  for (;;) {
    const attempt = await tryReady(service, ready, first, deadline - performance.now(), signal)
    if (attempt.ready) return performance.now()
    if (performance.now() >= deadline) {
      const end = await service.ended()
      if (end !== undefined) throw endedBeforeReady(end)
      throw new CaseError(
        'ready',
        `the target was not ready within ${ready.timeoutMs / 1000} s (${describeReadiness(ready)}); last seen: ${attempt.saw}${hintFor(attempt.saw)}`,
      )
    }
    await sleep(ready.kind === 'command' ? COMMAND_POLL_MS : POLL_MS, undefined, { signal })
  }
}

function hintFor(saw: string): string {
  return saw.includes('ECONNREFUSED')
    ? ' (nothing listens there: is `port` right, and does it listen on 0.0.0.0?)'
    : ''
}

/** Beside the polling: what is sent to a container that has gone stays unanswered until its timeout. */
async function failWhenEnded(service: Service, signal: AbortSignal): Promise<never> {
  for (;;) {
    await sleep(ALIVE_CHECK_MS, undefined, { signal })
    const end = await service.ended()
    if (end !== undefined) throw endedBeforeReady(end)
  }
}

function endedBeforeReady(end: string): CaseError {
  return new CaseError('ready', `the target ${end} before it was ready`)
}

type Attempt = { readonly ready: true } | { readonly ready: false; readonly saw: string }

async function tryReady(
  service: Service,
  ready: Readiness,
  first: WeightedRequest,
  leftMs: number,
  signal: AbortSignal,
): Promise<Attempt> {
  // The last attempt gets its time too: a hasty timeout would hide what was wrong.
  const timeoutMs = Math.max(MIN_ATTEMPT_MS, Math.min(leftMs, REQUEST_TIMEOUT_MS))
  try {
    switch (ready.kind) {
      case 'http': {
        const request = { method: 'GET', path: ready.path, headers: {} }
        const { status } = await send(service, request, timeoutMs, signal)
        return status >= 200 && status < 300 ? { ready: true } : { ready: false, saw: `status ${status}` }
      }
      case 'tcp': {
        await connectOnce(service.checkOrigin, timeoutMs)
        await send(service, first, timeoutMs, signal)
        return { ready: true }
      }
      case 'command': {
        const enough = AbortSignal.any([signal, AbortSignal.timeout(Math.ceil(timeoutMs))])
        const { exitCode, output } = await service.exec(ready.command, { signal: enough })
        return exitCode === 0
          ? { ready: true }
          : { ready: false, saw: `exit code ${exitCode}: ${output.trim().slice(-200)}` }
      }
    }
  } catch (error) {
    signal.throwIfAborted()
    // Anything else is a fault of ours, and no sign of a service that is not ready.
    const timedOut = error instanceof DOMException && error.name === 'TimeoutError'
    if (timedOut) return { ready: false, saw: 'a command that did not end' }
    if (!(error instanceof NoAnswerError)) throw error
    return { ready: false, saw: error.message }
  }
}

function describeReadiness(ready: Readiness): string {
  switch (ready.kind) {
    case 'http':
      return `a 2xx answer at ${ready.path}`
    case 'tcp':
      return 'an answer on its port'
    case 'command':
      return `exit code 0 of ${ready.command.join(' ')}`
  }
}

function connectOnce(origin: string, timeoutMs: number): Promise<void> {
  const { hostname, port, protocol } = new URL(origin)
  return new Promise((resolve, reject) => {
    const socket = net.connect({ host: hostname, port: Number(port || (protocol === 'https:' ? 443 : 80)) })
    socket.setTimeout(timeoutMs, () => socket.destroy(new Error(`no connection within ${timeoutMs} ms`)))
    socket.on('error', (error) => reject(new NoAnswerError(error.message, { cause: error })))
    socket.on('connect', () => {
      socket.destroy()
      resolve()
    })
  })
}

/**
 * Asks what the target promises to answer, and every request of the scenario once.
 * @throws CaseError naming request, expectation and answer.
 */
export async function verifyAnswers(
  service: Service,
  target: Target,
  requests: readonly WeightedRequest[],
  signal: AbortSignal,
): Promise<void> {
  for (const verification of target.verify) {
    const { method, path } = verification.request
    const answer = await sendFor('verify', service, verification.request, signal)
    const fault = findFault(verification, answer)
    if (fault !== undefined) throw new CaseError('verify', `${method} ${path} ${fault}`)
  }
  for (const request of requests) {
    const { status } = await sendFor('verify', service, request, signal)
    if (request.status === undefined ? status < 200 || status > 299 : !request.status.includes(status)) {
      const expected = request.status?.join(', ') ?? '200-299'
      throw new CaseError(
        'verify',
        `${request.method} ${request.path} answers with status ${status}, not ${expected}`,
      )
    }
  }
}

/** What is wrong with an answer; undefined when it is as expected. */
export function findFault(expected: Omit<Verification, 'request'>, answer: HttpAnswer): string | undefined {
  const { status, body } = answer
  if (expected.status === undefined ? status < 200 || status > 299 : status !== expected.status) {
    return `answers with status ${status}, not ${expected.status ?? '200-299'}`
  }
  if (expected.body !== undefined && !body.includes(expected.body)) {
    return `answers ${excerpt(body)}, which does not contain ${excerpt(expected.body)}`
  }
  if (expected.json !== undefined) {
    const actual = parseJson(body)
    if (actual === undefined) return `answers ${excerpt(body)}, which is not JSON`
    if (!containsJson(actual.value, expected.json)) {
      return `answers ${excerpt(body)}, which does not contain ${excerpt(JSON.stringify(expected.json))}`
    }
  }
  return undefined
}

function parseJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return undefined
  }
}

/** Objects match as subsets, everything else must be equal. */
function containsJson(actual: unknown, expected: unknown): boolean {
  if (!isObject(expected)) return isDeepStrictEqual(actual, expected)
  if (!isObject(actual)) return false
  return Object.entries(expected).every(([key, value]) => key in actual && containsJson(actual[key], value))
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function excerpt(text: string): string {
  return JSON.stringify(text.length > 120 ? `${text.slice(0, 120)}…` : text)
}

/**
 * Fills a service: its requests one after the other over a kept connection, its commands inside the container.
 * @throws CaseError at the first answer that is no 2xx and the first command that fails.
 */
export async function prepareService(
  service: Service,
  steps: readonly PrepareStep[],
  signal: AbortSignal,
): Promise<void> {
  const { Agent } = service.checkOrigin.startsWith('https:') ? https : http
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  try {
    for (const step of steps) {
      if (step.kind === 'command') await prepareByCommand(service, step.command, signal)
      else await prepareByRequest(service, step.request, step.repeat, agent, signal)
    }
  } finally {
    agent.destroy()
  }
}

async function prepareByCommand(
  service: Service,
  command: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const { exitCode, output } = await service.exec(command, { signal })
  if (exitCode === 0) return
  throw new CaseError(
    'prepare',
    `${command.join(' ')} ended with exit code ${exitCode}: ${output.trim().slice(-500)}`,
  )
}

async function prepareByRequest(
  service: Service,
  request: HttpRequest,
  repeat: number,
  agent: http.Agent,
  signal: AbortSignal,
): Promise<void> {
  for (let i = 1; i <= repeat; i += 1) {
    const numbered = {
      ...request,
      path: request.path.replaceAll('{i}', String(i)),
      ...(request.body === undefined ? {} : { body: request.body.replaceAll('{i}', String(i)) }),
    }
    const { status, body } = await sendFor('prepare', service, numbered, signal, agent)
    if (status < 200 || status > 299) {
      throw new CaseError(
        'prepare',
        `${numbered.method} ${numbered.path} (${i} of ${repeat}) answers with status ${status}: ${excerpt(body)}`,
      )
    }
  }
}

async function sendFor(
  stage: Failure['stage'],
  service: Service,
  request: HttpRequest,
  signal: AbortSignal,
  agent?: http.Agent,
): Promise<HttpAnswer> {
  try {
    return await send(service, request, REQUEST_TIMEOUT_MS, signal, agent)
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof NoAnswerError)) throw error
    throw new CaseError(stage, `${request.method} ${request.path} got no answer: ${error.message}`)
  }
}

function send(
  service: Service,
  request: HttpRequest,
  timeoutMs: number,
  signal: AbortSignal,
  agent?: http.Agent,
): Promise<HttpAnswer> {
  return sendRequest({
    origin: service.checkOrigin,
    method: request.method,
    path: request.path,
    headers: request.headers,
    timeoutMs,
    signal,
    ...(request.body === undefined ? {} : { body: request.body }),
    ...(agent === undefined ? {} : { agent }),
  })
}
