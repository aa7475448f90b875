import { createInterface } from 'node:readline'
import autocannon, { type Client, type Options } from 'autocannon'
import packageJson from 'autocannon/package.json' with { type: 'json' }
import type { ConnectionPolicy, WeightedRequest } from '../model/plan.ts'
import type { LoadRecord } from '../model/results.ts'
import { type AutocannonClient, repairClient } from './autocannon-client.ts'
import type { EngineJob } from './engine.ts'
import { Recorder } from './recorder.ts'
import { buildSequence, startOffset } from './sequence.ts'

/** What the worker says, a line of JSON each; its job is the first line of its stdin, which stays open meanwhile. */
export type WorkerMessage =
  | { readonly kind: 'window'; readonly edge: 'open' | 'close' }
  | { readonly kind: 'record'; readonly record: LoadRecord }

/** Longest time after the timeout of the last request in the window that its outcome is awaited, in milliseconds. */
const DRAIN_MARGIN_MS = 1_000

/** autocannon stops by its own clock; we stop it. setTimeout takes no more than this many seconds. */
const ENDLESS_SECONDS = 2_000_000

/** autocannon's own histograms are not used, and cost time on every answer. */
const NO_HISTOGRAM = { __custom: true, recordValue() {}, reset() {}, destroy() {} }

const METHODS_WITH_BODY: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH'])

async function readJob(): Promise<EngineJob> {
  const lines = createInterface({ input: process.stdin })
  const job = await new Promise<EngineJob>((resolve, reject) => {
    lines.once('line', (line) => {
      try {
        resolve(JSON.parse(line))
      } catch (error) {
        reject(error)
      }
    })
    lines.once('close', () => reject(new Error('no job came')))
  })
  // The end of stdin means that whoever wanted the load is gone, maybe without having been able to signal us.
  lines.once('close', () => process.exit(1))
  return job
}

function say(message: WorkerMessage): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(`${JSON.stringify(message)}\n`, (error) => (error ? reject(error) : resolve()))
  })
}

async function runJob(job: EngineJob): Promise<LoadRecord> {
  const { load } = job
  const recorder = new Recorder(job.requests, load.timeoutMs * 1_000)
  const nowUs = (): number => performance.now() * 1_000
  let cpu = process.cpuUsage()
  let phase: 'settling' | 'open' | 'draining' | 'ended' = 'settling'
  const ended = Promise.withResolvers<void>()

  const openWindow = (): void => {
    phase = 'open'
    cpu = process.cpuUsage()
    recorder.open(nowUs())
    void say({ kind: 'window', edge: 'open' })
    if (load.stop.kind === 'duration') setTimeout(closeWindow, load.stop.durationMs)
  }
  const closeWindow = (): void => {
    phase = 'draining'
    recorder.close(nowUs())
    cpu = process.cpuUsage(cpu)
    void say({ kind: 'window', edge: 'close' })
    setTimeout(end, load.timeoutMs + DRAIN_MARGIN_MS)
    if (recorder.unanswered === 0) end()
  }
  const end = (): void => {
    phase = 'ended'
    ended.resolve()
  }
  const onOutcome = (): void => {
    if (phase === 'open' && load.stop.kind === 'requests' && recorder.outcomes >= load.stop.count)
      closeWindow()
    else if (phase === 'draining' && recorder.unanswered === 0) end()
  }

  if (job.settleMs > 0) setTimeout(openWindow, job.settleMs)
  else openWindow()
  startLoad(job, recorder, onOutcome)
  await ended.promise
  return recorder.buildRecord({
    engine: { name: 'autocannon', version: packageJson.version },
    generator: { cpuUs: cpu.user + cpu.system, cores: 1 },
  })
}

function startLoad(job: EngineJob, recorder: Recorder, onOutcome: () => void): void {
  const { load } = job
  const [first, ...others] = job.requests
  const sequence = buildSequence([first.weight, ...others.map((request) => request.weight)])
  const buffers = new Map<number, Buffer>()
  let clients = 0
  const setupClient = (publicClient: Client): void => {
    const client = publicClient as unknown as AutocannonClient
    for (const [index, built] of client.requestIterator.requests.entries()) {
      const request = job.requests[index]
      if (request === undefined) throw new Error('autocannon made more requests than it was given')
      const buffer = buffers.get(index) ?? withConnection(built.requestBuffer, request, load.connection)
      buffers.set(index, buffer)
      built.requestBuffer = buffer
    }
    repairClient(client, {
      recorder,
      sequence,
      offset: startOffset(clients++, load.connections, sequence.length),
      policy: load.connection,
      timeoutMs: load.timeoutMs,
      now: () => performance.now(),
      onOutcome,
    })
  }
  // No rate is set, so autocannon does not touch latencies for coordinated omission, and it refuses
  // `ignoreCoordinatedOmission` without a rate.
  const options: Options & { readonly histograms: object } = {
    url: job.origin,
    connections: load.connections,
    pipelining: 1,
    duration: ENDLESS_SECONDS,
    setupClient,
    requests: job.requests.map((request) => ({
      method: request.method as Options['method'],
      path: request.path,
      headers: buildHeaders(request),
      ...(request.body === undefined ? {} : { body: request.body }),
    })),
    histograms: { latencies: NO_HISTOGRAM, requests: NO_HISTOGRAM, throughput: NO_HISTOGRAM },
  }
  autocannon(options, (error) => {
    throw error ?? new Error('autocannon stopped by itself')
  })
}

/** The request's headers less those that autocannon or the repair writes; a method with a body has a length even without one. */
function buildHeaders(request: WeightedRequest): Record<string, string> {
  const headers = Object.fromEntries(
    Object.entries(request.headers).filter(([name]) => !/^(connection|content-length)$/i.test(name)),
  )
  const isEmpty = request.body === undefined || request.body === ''
  return isEmpty && METHODS_WITH_BODY.has(request.method) ? { ...headers, 'Content-Length': '0' } : headers
}

/** autocannon always writes `Connection: keep-alive`. */
function withConnection(buffer: Buffer, request: WeightedRequest, policy: ConnectionPolicy): Buffer {
  const own = Object.entries(request.headers).find(([name]) => name.toLowerCase() === 'connection')?.[1]
  const value = policy === 'per-request' ? 'close' : (own ?? 'keep-alive')
  const headEnd = buffer.indexOf('\r\n\r\n')
  const head = buffer.subarray(0, headEnd).toString('utf8')
  const line = /\r\nConnection: keep-alive(?=\r\n|$)/
  if (headEnd < 0 || !line.test(head)) {
    throw new Error('autocannon wrote no Connection header: the repair does not fit this version')
  }
  return Buffer.concat([
    Buffer.from(
      head.replace(line, () => `\r\nConnection: ${value}`),
      'utf8',
    ),
    buffer.subarray(headEnd),
  ])
}

// A bundle in CommonJS has no top-level await; a rejection ends the process with its stack on stderr.
void readJob()
  .then(runJob)
  .then((record) => say({ kind: 'record', record }))
  .then(() => process.exit(0))
