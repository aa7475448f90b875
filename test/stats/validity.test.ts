import { describe, expect, test } from 'vitest'
import type { Case, Load } from '../../src/model/plan.ts'
import { judgeRun } from '../../src/stats/validity.ts'
import { createCase, createFailures, createLatency, createRun, type RunOverrides } from '../helpers/runs.ts'

interface Row {
  readonly name: string
  readonly run: RunOverrides
  readonly limits?: Case['limits']
  readonly load?: Partial<Load>
}

function judge({ run, limits, load }: Omit<Row, 'name'>) {
  return judgeRun(
    createRun(run),
    createCase({ ...(limits === undefined ? {} : { limits }), ...(load && { load }) }),
  )
}

const UNLIMITED = { periodUs: 100_000 } as const
/** Counters of a target that leaves most of its quota. */
const LEISURELY = { cpuUs: 500_000, throttledPeriods: 0 } as const

test('a run says what it used', () => {
  expect(judge({ run: {} })).toEqual({
    bound: 'quota-bound',
    warnings: [],
    errorRatio: 0,
    cpuUsedRatio: 1,
    throttledRatio: 0.98,
    generatorRatio: 0.2,
    littleRatio: 1,
    foreignCores: 0.002,
    stealCores: 0,
  })
})

describe('what set the throughput', () => {
  test.each<Row & { readonly bound: string }>([
    { name: 'the quota is used up', run: { usage: { throttledPeriods: 0 } }, bound: 'quota-bound' },
    // One core of two threads burns its quota in bursts, and may use less than all of it.
    { name: 'most periods are throttled', run: { usage: { cpuUs: 2_000_000 } }, bound: 'quota-bound' },
    {
      name: 'the quota is used up by 97 %',
      run: { usage: { cpuUs: 2_425_000, throttledPeriods: 0 } },
      bound: 'quota-bound',
    },
    {
      name: 'nothing is used up',
      run: { usage: { cpuUs: 2_424_000, throttledPeriods: 39 } },
      bound: 'latency-bound',
    },
    {
      name: 'the generator is at its end',
      run: { usage: LEISURELY, load: { generator: { cpuUs: 4_000_000, cores: 1 } } },
      bound: 'generator-bound',
    },
    {
      name: 'a generator of two cores is not',
      run: { usage: LEISURELY, load: { generator: { cpuUs: 4_000_000, cores: 2 } } },
      bound: 'latency-bound',
    },
    // The quota explains it, whatever the generator did.
    {
      name: 'quota and generator are at their end',
      run: { load: { generator: { cpuUs: 4_900_000, cores: 1 } } },
      bound: 'quota-bound',
    },
    {
      name: "others filled the target's core",
      run: { usage: { cpuUs: 1_500_000, throttledPeriods: 3 }, host: { foreignOnTargetUs: 3_100_000 } },
      bound: 'host-bound',
    },
    {
      name: 'the hypervisor took the core',
      run: { usage: { cpuUs: 1_500_000, throttledPeriods: 3 }, host: { stealUs: 3_100_000 } },
      bound: 'host-bound',
    },
    {
      name: "others did much, but not on the target's core",
      run: {
        usage: { cpuUs: 1_500_000, throttledPeriods: 3 },
        host: { foreignUs: 3_000_000, foreignOnTargetUs: 0 },
      },
      bound: 'latency-bound',
    },
    {
      name: 'the target filled its core without a quota',
      run: { usage: { cpuUs: 4_900_000, periods: 0, throttledPeriods: 0 } },
      limits: UNLIMITED,
      bound: 'cpu-bound',
    },
    {
      name: 'nothing is known of the target',
      run: { usage: undefined, path: 'url', host: { foreignUs: 4_900_000 } },
      limits: UNLIMITED,
      bound: 'latency-bound',
    },
  ])('$bound when $name', ({ bound, ...row }) => {
    expect(judge(row).bound).toBe(bound)
  })
})

describe('a run that must not show a number', () => {
  test.each<Row & { readonly invalid: string | undefined }>([
    {
      name: 'one percent of errors is bearable',
      run: { load: { failures: createFailures({ status: 50 }) } },
      invalid: undefined,
    },
    {
      name: 'more is not',
      run: { load: { failures: createFailures({ status: 51 }), statuses: { 200: 4_949, 503: 51 } } },
      invalid: '1.0 % of 5000 requests failed (status 51 x 503)',
    },
    {
      name: 'kinds are told apart',
      run: {
        load: {
          failures: createFailures({ status: 700, timeout: 20, connect: 5, reset: 4, lost: 3, other: 2 }),
          statuses: { 200: 4_266, 404: 200, 500: 500 },
        },
      },
      invalid:
        '15 % of 5000 requests failed (status 200 x 404, 500 x 500, timeout 20, connect 5, reset 4, lost 3, other 2)',
    },
    // A 200 may be a failure when the scenario expects something else.
    {
      name: 'success where another status was expected',
      run: { load: { failures: createFailures({ status: 5_000 }), statuses: { 200: 5_000 } } },
      invalid: '100 % of 5000 requests failed (status 5000)',
    },
    {
      name: 'no outcome is no success',
      run: { load: { unanswered: 100 } },
      invalid: '2.0 % of 5000 requests failed (unanswered 100)',
    },
    {
      name: 'nothing was sent',
      run: { load: { sent: 0, ok: 0, completedOk: 0, statuses: {}, latency: createLatency() } },
      invalid: 'no request was sent in the window of 5.0 s: those before it take longer; raise load.duration',
    },
    {
      name: 'a quota of which no period was counted',
      run: { usage: { periods: 0, throttledPeriods: 0 } },
      invalid: 'the CPU quota was not enforced: the kernel counted no period of it',
    },
    {
      name: 'a quota that was used nearly twice',
      run: { usage: { cpuUs: 4_900_000 } },
      invalid: 'the CPU quota was not enforced: 1.96 x of it was used',
    },
  ])('$name', ({ invalid, ...row }) => {
    expect(judge(row).invalid).toBe(invalid)
  })
})

describe('a run to repeat', () => {
  test('is one whose host was taken away', () => {
    const run = {
      usage: { cpuUs: 1_500_000, throttledPeriods: 3 },
      host: { foreignOnTargetUs: 2_000_000, stealUs: 1_100_000 },
    }
    expect(judge({ run }).retry).toMatchInlineSnapshot(`"the host was taken away: others used 0.62 cores"`)
  })

  test('is not one that used its quota nevertheless', () => {
    expect(judge({ run: { host: { foreignOnTargetUs: 2_000_000 } } }).retry).toBeUndefined()
  })
})

describe('warns', () => {
  test.each<Row & { readonly warning: string }>([
    {
      name: 'of a generator at its end',
      run: { load: { generator: { cpuUs: 4_000_000, cores: 1 } } },
      warning:
        'the generator used 80 % of its core, so throughput and latency are partly its own: use a lower quota or a faster engine',
    },
    {
      name: 'of others',
      run: { host: { foreignOnTargetUs: 250_000 } },
      warning:
        'others used 0.05 cores beside the target and 0.00 were stolen: end what runs on this machine and repeat',
    },
    {
      name: 'of others anywhere when nothing is pinned',
      run: { host: { foreignUs: 500_000, foreignOnTargetUs: undefined } },
      warning:
        'others used 0.10 cores beside the target and 0.00 were stolen: end what runs on this machine and repeat',
    },
    {
      name: 'of stolen time',
      run: { host: { stealUs: 100_000 } },
      warning:
        'others used 0.00 cores beside the target and 0.02 were stolen: end what runs on this machine and repeat',
    },
    {
      name: "when Little's law does not hold",
      run: { load: { completedOk: 3_900 } },
      warning:
        "throughput x mean latency is 0.78 x the connections instead of 1 (Little's law): the run is too short for its latencies, or requests were lost",
    },
    {
      name: 'of a quota that was overrun',
      run: { usage: { cpuUs: 2_600_000 } },
      warning: 'the target used 1.04 x its quota: the run is too short for the CFS period',
    },
    {
      name: 'of requests without an outcome, which are not said to have failed as well',
      run: { load: { unanswered: 2 } },
      warning: '2 requests had no outcome when the run ended',
    },
    {
      name: 'of bearable failures',
      run: { load: { failures: createFailures({ reset: 3 }) } },
      warning: '3 of 5000 requests failed (reset 3)',
    },
    {
      name: 'of a killed process',
      run: { usage: { oomKills: 1 } },
      warning: 'the kernel killed a process of the target for want of memory: raise limits.memory',
    },
    {
      name: 'of a host that was never idle',
      run: { host: { idle: false, idleWaitMs: 10_123 } },
      warning: 'the host was not idle after 10 s of waiting',
    },
    {
      name: 'of a container whose counters could not be read',
      run: { usage: undefined },
      warning: "the target's control group could not be read: nothing proves its limits and its CPU time",
    },
    {
      name: 'of a namespace that could not be entered',
      run: { path: 'bridge' },
      warning:
        "the generator could not enter the target's network namespace, which takes root or passwordless sudo: part of the kernel's work is charged to the target",
    },
    {
      name: 'of cores that are shared',
      run: { placement: { targetCpus: [], generatorCpus: [] } },
      warning:
        'target and generator share their cores and disturb each other: use a lower quota or more cores',
    },
  ])('$name', ({ warning, ...row }) => {
    expect(judge(row).warnings).toEqual([warning])
  })

  test.each<Row>([
    { name: 'a little of others', run: { host: { foreignOnTargetUs: 240_000, stealUs: 90_000 } } },
    { name: 'more of others than there is', run: { host: { foreignOnTargetUs: -900_000 } } },
    { name: "nearly Little's law", run: { load: { completedOk: 4_100 } } },
    // Connecting takes time that is nobody's latency.
    {
      name: "Little's law with a new connection per request",
      run: { load: { completedOk: 2_000 } },
      load: { connection: 'per-request' },
    },
    { name: 'a quota that was used by 103 %', run: { usage: { cpuUs: 2_575_000 } } },
    {
      name: 'no quota',
      run: { usage: { cpuUs: 4_900_000, periods: 0, throttledPeriods: 0 } },
      limits: UNLIMITED,
    },
  ])('not of $name', (row) => {
    expect(judge(row).warnings).toEqual([])
  })
})
