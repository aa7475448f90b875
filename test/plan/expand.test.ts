import { expect, it } from 'vitest'
import type { Target } from '../../src/model/target.ts'
import { buildCaseId, expandSweep, type Sweep } from '../../src/plan/expand.ts'

const TARGET: Target = {
  name: 'one',
  source: { kind: 'image', image: 'nginx' },
  port: 80,
  env: {},
  capabilities: [],
  ready: { kind: 'tcp', timeoutMs: 1000 },
  prepare: [],
  verify: [],
}

const SWEEP: Sweep = {
  scenario: 's',
  file: 's.yml',
  targets: [TARGET, { ...TARGET, name: 'two', source: { kind: 'url', url: 'http://a' } }],
  engines: ['autocannon'],
  requests: [{ name: 'GET /', method: 'GET', path: '/', headers: {}, weight: 1 }],
  connections: [16, 4],
  stop: { kind: 'duration', durationMs: 1000 },
  warmupMs: 0,
  connection: 'keep-alive',
  timeoutMs: 1000,
  memories: [undefined, 64_000_000],
  cpus: [1, 0.5],
  periodUs: 100_000,
  runs: 3,
  coldStarts: 5,
}

it('changes the cpus fastest and the target slowest, each in the order given', () => {
  expect(expandSweep(SWEEP).map(({ id }) => id)).toMatchInlineSnapshot(`
    [
      "s/one/autocannon/c16/cpus-1",
      "s/one/autocannon/c16/cpus-0.5",
      "s/one/autocannon/c16/cpus-1/mem-64MB",
      "s/one/autocannon/c16/cpus-0.5/mem-64MB",
      "s/one/autocannon/c4/cpus-1",
      "s/one/autocannon/c4/cpus-0.5",
      "s/one/autocannon/c4/cpus-1/mem-64MB",
      "s/one/autocannon/c4/cpus-0.5/mem-64MB",
      "s/two/autocannon/c16/cpus-1",
      "s/two/autocannon/c16/cpus-0.5",
      "s/two/autocannon/c16/cpus-1/mem-64MB",
      "s/two/autocannon/c16/cpus-0.5/mem-64MB",
      "s/two/autocannon/c4/cpus-1",
      "s/two/autocannon/c4/cpus-0.5",
      "s/two/autocannon/c4/cpus-1/mem-64MB",
      "s/two/autocannon/c4/cpus-0.5/mem-64MB",
    ]
  `)
})

it('starts only containers cold', () => {
  const byTarget = new Map(expandSweep(SWEEP).map(({ target, coldStarts }) => [target, coldStarts]))
  expect([...byTarget]).toEqual([
    ['one', 5],
    ['two', 0],
  ])
})

it('leaves out limits that are not set', () => {
  const [single] = expandSweep({ ...SWEEP, cpus: [undefined], memories: [undefined] })
  expect(single?.limits).toEqual({ periodUs: 100_000 })
  expect(single?.limits).not.toHaveProperty('cpus')
})

it.each([
  [{ cpus: 0.25, memoryBytes: undefined }, 'a/b/autocannon/c1/cpus-0.25'],
  [{ cpus: 0.25, memoryBytes: 2 ** 29 }, 'a/b/autocannon/c1/cpus-0.25/mem-512MiB'],
  [{ cpus: undefined, memoryBytes: 1e9 }, 'a/b/autocannon/c1/unlimited/mem-1GB'],
  [{ cpus: undefined, memoryBytes: undefined }, 'a/b/autocannon/c1/unlimited'],
])('makes an id of %j', (limits, id) => {
  expect(buildCaseId({ scenario: 'a', target: 'b', engine: 'autocannon', connections: 1, ...limits })).toBe(
    id,
  )
})
