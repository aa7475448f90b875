import { readFileSync } from 'node:fs'
import path from 'node:path'
import { Ajv } from 'ajv'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { findStale } from '../../script/schemas.ts'
import { buildScenarioSchema, buildTargetSchema } from '../../src/plan/json-schema.ts'
import { scenarioSchema, targetSchema, validate } from '../../src/plan/schema.ts'

const ajv = new Ajv({ allErrors: true, allowUnionTypes: true, strictRequired: false })
const isScenario = ajv.compile(buildScenarioSchema())
const isTarget = ajv.compile(buildTargetSchema())

it('is published as it is', () => {
  expect(findStale()).toEqual([])
})

describe('the JSON Schema of a scenario agrees with the loader', () => {
  const target = 'target: ../targets/hello\n'
  it.each([
    [target, true],
    ['targets: [../targets/hello, { name: x, image: nginx, port: 80 }]', true],
    [`${target}name: a-b\nengine: [autocannon]\nruns: 1\ncold-starts: 0`, true],
    [`${target}load: { connections: [1, 2], duration: 1m30s, warmup: 0s, connection: per-request }`, true],
    [
      `${target}load: { requests: 100 }\nlimits: { cpus: [0.5, unlimited], memory: 64MB, period: 10ms }`,
      true,
    ],
    [`${target}requests: [{ path: /a?b=c, method: POST, json: null, headers: { a: 1 }, status: 201 }]`, true],
    ['', false],
    ['runs: 1', false],
    [`${target}targets: [a]`, false],
    [`${target}lod: {}`, false],
    [`${target}engine: k6`, false],
    [`${target}load: { conections: 1 }`, false],
    [`${target}load: { connections: 0 }`, false],
    [`${target}load: { connections: [] }`, false],
    [`${target}load: { duration: 5 }`, false],
    [`${target}load: { duration: 5sec }`, false],
    [`${target}load: { duration: 5s, requests: 1 }`, false],
    [`${target}limits: { cpus: 0.001 }`, false],
    [`${target}limits: { memory: 64M }`, false],
    [`${target}requests: []`, false],
    [`${target}requests: [{ path: a }]`, false],
    [`${target}requests: [{ path: /, body: a, json: 1 }]`, false],
    [`${target}runs: 0`, false],
    ['target: { image: nginx }', false],
  ])('%j: %s', (text, valid) => {
    const value = parse(text)
    expect(isScenario(value)).toBe(valid)
    expect(validate(scenarioSchema, value).issues.length === 0).toBe(valid)
  })
})

describe('the JSON Schema of a target agrees with the loader', () => {
  it.each([
    ['{ build: ., port: 80 }', true],
    ['{ build: { context: ., dockerfile: x, args: { A: 1 } }, port: 80, env: { B: true } }', true],
    ['{ image: nginx, port: 80, ready: /, command: [a, 1] }', true],
    ['{ image: nginx, port: 80, ready: { command: [a], timeout: 5s } }', true],
    ['{ image: nginx, port: 80, prepare: [{ path: /, repeat: 3 }, { command: [a] }] }', true],
    ['{ image: nginx, port: 80, verify: [{ path: /, expect: { status: 200, json: [1] } }] }', true],
    ['{ url: "http://localhost:8080" }', true],
    ['{ port: 80 }', false],
    ['{ image: nginx }', false],
    ['{ image: nginx, build: ., port: 80 }', false],
    ['{ url: "http://a", port: 80 }', false],
    ['{ url: "ftp://a" }', false],
    ['{ image: nginx, port: 0 }', false],
    ['{ image: nginx, port: 80, command: a b }', false],
    ['{ image: nginx, port: 80, ready: { path: /, tcp: true } }', false],
    ['{ image: nginx, port: 80, prepare: [{}] }', false],
    ['{ image: nginx, port: 80, prepare: [{ path: /, command: [a] }] }', false],
    ['{ image: nginx, port: 80, verify: [{ path: /, expects: {} }] }', false],
  ])('%s: %s', (text, valid) => {
    const value = parse(text)
    expect(isTarget(value)).toBe(valid)
    expect(validate(targetSchema, value).issues.length === 0).toBe(valid)
  })
})

describe('the examples in the documentation', () => {
  const text = readFileSync(path.join(import.meta.dirname, '../../docs/scenarios.md'), 'utf8')
  const examples = [...text.matchAll(/```yaml\n(# yaml-language-server: .*\/(\w+)\.schema\.json\n[^`]*)```/g)]

  it('are there', () => {
    expect(examples).toHaveLength(3)
  })

  it.each(examples.map(([, yaml = '', kind]) => ({ yaml, kind })))('hold as a $kind', ({ yaml, kind }) => {
    const schema = kind === 'scenario' ? scenarioSchema : targetSchema
    expect(validate(schema, parse(yaml)).issues.map((issue) => issue.describe(''))).toEqual([])
  })
})
