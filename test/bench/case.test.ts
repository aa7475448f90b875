import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { measureCase } from '../../src/bench/case.ts'
import { createFakeCase, createFakeLab, createFakeTarget } from '../helpers/fake-lab.ts'

let server: http.Server
let origin: string
const seen: string[] = []

beforeAll(async () => {
  server = http.createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`)
    response.writeHead(request.url === '/broken' ? 500 : 200).end('hello')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})

afterAll(() => {
  server.close()
})

describe('measuring a case', () => {
  it('fills and warms the service at full CPU and measures it under its quota', async () => {
    const lab = createFakeLab({ origin })
    const target = createFakeTarget({ prepare: [{ kind: 'command', command: ['fill'] }] })
    const result = await measureCase(lab, target, createFakeCase(), 'sha256:1')
    expect(lab.journal).toEqual([
      'start',
      'exec true',
      'quota lifted',
      'exec fill',
      'load 2000',
      'quota 0.5',
      'load 5000',
      'load 5000',
      'gone',
    ])
    expect(result.failure).toBeUndefined()
    expect(result.runs.map(({ index, discarded }) => ({ index, discarded }))).toEqual([
      { index: 1, discarded: undefined },
      { index: 2, discarded: undefined },
    ])
  })

  it('times as many starts as asked for, the measured one among them', async () => {
    const lab = createFakeLab({ origin })
    const result = await measureCase(lab, createFakeTarget(), createFakeCase({ coldStarts: 3 }), 'sha256:1')
    expect(lab.journal.filter((entry) => entry === 'start')).toHaveLength(3)
    expect(lab.journal.filter((entry) => entry === 'gone')).toHaveLength(3)
    expect(result.coldStarts).toHaveLength(3)
    for (const start of result.coldStarts) expect(start.totalUs - start.firstAnswerUs).toBeGreaterThan(9000)
  })

  it('repeats a run that the host spoilt, and keeps it as discarded', async () => {
    const lab = createFakeLab({ origin, foreignUs: (run) => (run === 1 ? 4_000_000 : 0) })
    const result = await measureCase(lab, createFakeTarget(), createFakeCase(), 'sha256:1')
    expect(result.runs.map(({ discarded }) => discarded)).toEqual([
      'the host was taken away: others used 0.80 cores',
      undefined,
      undefined,
    ])
  })

  it('lets spoilt runs stand when repeating does not help', async () => {
    const lab = createFakeLab({ origin, foreignUs: () => 4_000_000 })
    const result = await measureCase(lab, createFakeTarget(), createFakeCase(), 'sha256:1')
    expect(result.runs.filter(({ discarded }) => discarded !== undefined)).toHaveLength(3)
    expect(result.runs.filter(({ discarded }) => discarded === undefined)).toHaveLength(2)
  })

  it('sends every request of the scenario once before load, and does not load what answers wrongly', async () => {
    const lab = createFakeLab({ origin })
    const benchCase = createFakeCase({
      requests: [{ name: 'broken', method: 'GET', path: '/broken', headers: {}, weight: 1 }],
    })
    const result = await measureCase(lab, createFakeTarget(), benchCase, 'sha256:1')
    expect(result.failure).toEqual({
      stage: 'verify',
      message: 'GET /broken answers with status 500, not 200-299',
      logTail: ['the last line of its log'],
    })
    expect(lab.journal).not.toContain('load 2000')
    expect(lab.journal.at(-1)).toBe('gone')
  })

  it('says what a verification found instead of what it expected', async () => {
    const lab = createFakeLab({ origin })
    const target = createFakeTarget({
      verify: [{ request: { method: 'GET', path: '/', headers: {} }, body: 'goodbye' }],
    })
    const result = await measureCase(lab, target, createFakeCase(), 'sha256:1')
    expect(result.failure?.message).toBe('GET / answers "hello", which does not contain "goodbye"')
  })

  it('numbers repeated preparation requests', async () => {
    const lab = createFakeLab({ origin })
    seen.length = 0
    const request = { method: 'POST', path: '/customers/{i}', headers: {}, body: '{"n":{i}}' }
    const target = createFakeTarget({ prepare: [{ kind: 'request', request, repeat: 3 }] })
    await measureCase(lab, target, createFakeCase(), 'sha256:1')
    expect(seen.slice(0, 3)).toEqual(['POST /customers/1', 'POST /customers/2', 'POST /customers/3'])
  })

  it('stops preparing at the first command that fails', async () => {
    const lab = createFakeLab({ origin })
    const target = createFakeTarget({ prepare: [{ kind: 'command', command: ['false'] }] })
    const result = await measureCase(lab, target, createFakeCase(), 'sha256:1')
    expect(result.failure).toMatchObject({
      stage: 'prepare',
      message: 'false ended with exit code 1: some output',
    })
  })

  it('reports a target that ends under load with the tail of its log, and keeps the run as discarded', async () => {
    let loads = 0
    const lab = createFakeLab({
      origin,
      onLoad: () => {
        loads += 1
      },
      ended: () => (loads >= 2 ? 'was killed: it needed more memory than its limit' : undefined),
    })
    const result = await measureCase(lab, createFakeTarget(), createFakeCase(), 'sha256:1')
    expect(result.failure).toEqual({
      stage: 'load',
      message: 'the target was killed: it needed more memory than its limit under load',
      logTail: ['the last line of its log'],
    })
    expect(result.runs.map(({ discarded }) => discarded)).toEqual([
      'the target was killed: it needed more memory than its limit',
    ])
    expect(lab.journal.at(-1)).toBe('gone')
  })

  it('reports a generator that fails', async () => {
    const lab = createFakeLab({ origin, failEngine: 'autocannon crashed' })
    const result = await measureCase(lab, createFakeTarget(), createFakeCase(), 'sha256:1')
    expect(result.failure).toMatchObject({ stage: 'load', message: 'autocannon crashed' })
    expect(lab.journal.at(-1)).toBe('gone')
  })

  it('reports a container that cannot be started', async () => {
    const lab = createFakeLab({ origin, failStart: 'no such image' })
    const result = await measureCase(lab, createFakeTarget(), createFakeCase(), 'sha256:1')
    expect(result.failure).toEqual({ stage: 'start', message: 'no such image', logTail: [] })
  })

  it('gives up on a target that is never ready, saying what was seen last', async () => {
    const lab = createFakeLab({ origin })
    const target = createFakeTarget({ ready: { kind: 'http', path: '/broken', timeoutMs: 30 } })
    const result = await measureCase(lab, target, createFakeCase(), 'sha256:1')
    expect(result.failure).toMatchObject({
      stage: 'ready',
      message: 'the target was not ready within 0.03 s (a 2xx answer at /broken); last seen: status 500',
    })
  })

  it('sees at the first attempt that a service is ready, whatever is left of its time', async () => {
    const lab = createFakeLab({ origin })
    seen.length = 0
    const target = createFakeTarget({ ready: { kind: 'http', path: '/', timeoutMs: 7000 } })
    await measureCase(lab, target, createFakeCase({ runs: 1 }), 'sha256:1')
    // Once for readiness, once as the scenario's request.
    expect(seen).toEqual(['GET /', 'GET /'])
  })

  it('takes the container away when it is interrupted', async () => {
    const controller = new AbortController()
    const reason = new Error('interrupted')
    const lab = createFakeLab({ origin, controller, onLoad: () => controller.abort(reason) })
    await expect(measureCase(lab, createFakeTarget(), createFakeCase(), 'sha256:1')).rejects.toBe(reason)
    expect(lab.journal.at(-1)).toBe('gone')
  })
})
