import { describe, expect, test } from 'vitest'
import { Recorder } from '../../src/engine/recorder.ts'
import { FAILURE_KINDS, type LoadRecord } from '../../src/model/results.ts'
import { Histogram } from '../../src/stats/histogram.ts'

const context = {
  engine: { name: 'autocannon', version: '9.0.0' },
  generator: { cpuUs: 1_234, cores: 1 },
} as const

function createRecorder(): Recorder {
  return new Recorder([{ name: 'read' }, { name: 'write', status: [201, 404] }], 1_000_000)
}

function sumFailures(record: LoadRecord): number {
  return FAILURE_KINDS.reduce((sum, kind) => sum + record.failures[kind], 0)
}

describe('Recorder', () => {
  test('a request belongs to the window in which it was sent, a success also to that in which it arrived', () => {
    const recorder = createRecorder()
    const before = recorder.send(0)
    recorder.open(5_000)
    const inside = recorder.send(0)
    const late = recorder.send(0)
    recorder.answer(before, 200, 900)
    recorder.answer(inside, 200, 300)
    recorder.close(1_005_000)
    const after = recorder.send(0)
    recorder.answer(late, 200, 6_000_000)
    recorder.answer(after, 200, 300)

    const record = recorder.buildRecord(context)
    expect(record).toMatchObject({ windowUs: 1_000_000, sent: 2, ok: 2, unanswered: 0, completedOk: 2 })
    expect(record.statuses).toEqual({ 200: 2 })
    expect(record.latency).toMatchObject({
      count: 2,
      source: 'samples',
      omission: 'not-corrected',
      resolutionUs: 1,
      sumUs: 6_000_300,
      sumSquaresUs: 300 ** 2 + 6_000_000 ** 2,
    })
    expect(record.generator).toEqual(context.generator)
  })

  test('what has no outcome at the end is unanswered', () => {
    const recorder = createRecorder()
    recorder.open(0)
    recorder.send(0)
    expect(recorder.unanswered).toBe(1)
    recorder.close(1)
    expect(recorder.buildRecord(context)).toMatchObject({ sent: 1, ok: 0, unanswered: 1 })
  })

  test('an answer is a success by its status: 200-299, or what the request says', () => {
    const recorder = createRecorder()
    recorder.open(0)
    for (const status of [200, 204, 299, 199, 301, 404, 500]) recorder.answer(recorder.send(0), status, 1)
    for (const status of [200, 201, 404, 500]) recorder.answer(recorder.send(1), status, 1)
    recorder.close(1)
    const record = recorder.buildRecord(context)
    expect(record).toMatchObject({ sent: 11, ok: 5, completedOk: 5 })
    expect(record.failures.status).toBe(6)
    expect(record.statuses).toEqual({ 199: 1, 200: 2, 201: 1, 204: 1, 299: 1, 301: 1, 404: 2, 500: 2 })
    expect(record.requests).toMatchObject([
      { name: 'read', sent: 7, ok: 3 },
      { name: 'write', sent: 4, ok: 2 },
    ])
  })

  test('a timeout is in the latencies with at least the timeout, other failures are not', () => {
    const recorder = createRecorder()
    recorder.open(0)
    recorder.fail(recorder.send(0), 'timeout', 999_900)
    recorder.fail(recorder.send(0), 'timeout', 1_500_000)
    recorder.fail(recorder.send(0), 'reset', 10)
    recorder.answer(recorder.send(0), 500, 10)
    recorder.close(1)
    const { latency, failures } = recorder.buildRecord(context)
    expect(failures).toEqual({ status: 1, timeout: 2, connect: 0, reset: 1, lost: 0, other: 0 })
    expect(latency).toMatchObject({ count: 2, sumUs: 2_500_000 })
    expect(Histogram.decode(latency.histogram).quantileUs(0)).toBeGreaterThanOrEqual(999_424)
  })

  test('the whole latency is that of all requests together', () => {
    const recorder = createRecorder()
    recorder.open(0)
    recorder.answer(recorder.send(0), 200, 100)
    recorder.answer(recorder.send(1), 201, 400)
    recorder.close(1)
    const record = recorder.buildRecord(context)
    expect(record.latency).toMatchObject({ count: 2, sumUs: 500 })
    expect(Histogram.decode(record.latency.histogram).buckets()).toEqual([
      { fromUs: 100, toUs: 101, count: 1 },
      { fromUs: 400, toUs: 401, count: 1 },
    ])
    expect(record.requests.map((request) => request.latency.sumUs)).toEqual([100, 400])
  })

  test('bytes, connects and outcomes count where they happen', () => {
    const recorder = createRecorder()
    const happen = (): void => {
      recorder.connected(100)
      recorder.received(10)
      recorder.wrote(3)
      recorder.fail(recorder.send(0), 'lost', 1)
    }
    happen()
    recorder.open(0)
    happen()
    recorder.close(1)
    happen()
    expect(recorder.outcomes).toBe(1)
    expect(recorder.buildRecord(context)).toMatchObject({
      connect: { count: 1 },
      bytesIn: 10,
      bytesOut: 3,
      sent: 1,
    })
  })

  test('without latencies the histogram is empty text', () => {
    const recorder = createRecorder()
    recorder.open(0)
    recorder.close(1)
    expect(recorder.buildRecord(context).latency).toMatchObject({ count: 0, histogram: '' })
  })

  test('a second outcome, a second window and a record of an open window are errors', () => {
    const recorder = createRecorder()
    expect(() => recorder.close(0)).toThrow('without being open')
    recorder.open(0)
    expect(() => recorder.open(0)).toThrow('twice')
    expect(() => recorder.buildRecord(context)).toThrow('before the window was closed')
    const ticket = recorder.send(0)
    recorder.answer(ticket, 200, 1)
    expect(() => recorder.fail(ticket, 'reset', 1)).toThrow('two outcomes')
  })

  test('sent is always ok + failures + unanswered', () => {
    // A fixed linear congruential generator (Numerical Recipes), so that the walk is the same every time.
    let seed = 1
    const random = (below: number): number => {
      seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
      // The low bits of such a generator hardly change.
      return (seed >>> 16) % below
    }
    const recorder = createRecorder()
    const pending = []
    for (let step = 0; step < 5_000; step++) {
      if (step === 1_000) recorder.open(1)
      if (step === 4_000) recorder.close(2)
      if (random(2) === 0) pending.push(recorder.send(random(2)))
      const ticket = random(5) < 2 ? pending.splice(random(pending.length || 1), 1)[0] : undefined
      if (ticket === undefined) continue
      const kind = FAILURE_KINDS[random(FAILURE_KINDS.length)] ?? 'status'
      if (kind === 'status') recorder.answer(ticket, random(2) === 0 ? 200 : 404, 5)
      else recorder.fail(ticket, kind, 5)
    }
    const record = recorder.buildRecord(context)
    expect(record.unanswered).toBeGreaterThan(0)
    expect(record.ok + sumFailures(record) + record.unanswered).toBe(record.sent)
  })
})
