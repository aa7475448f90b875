import path from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Plan } from '../../src/model/plan.ts'
import { loadPlan } from '../../src/plan/load.ts'
import type { Overrides } from '../../src/plan/overrides.ts'
import { makeTempDir } from '../helpers/temp-dir.ts'

const HELLO = 'image: nginx\nport: 80\n'

/** Loads all files under `scenarios/` and hands over the plan, with the folder's path as `$DIR`. */
function load(
  files: Readonly<Record<string, string | Uint8Array>>,
  overrides: Overrides = {},
  cores?: number,
): Plan {
  using dir = makeTempDir({ 'targets/hello/target.yml': HELLO, ...files })
  const scenarios = Object.keys(files).filter((file) => file.startsWith('scenarios/'))
  const plan = loadPlan(scenarios, overrides, {
    cwd: dir.path,
    seed: 1,
    ...(cores === undefined ? {} : { cores }),
  })
  return JSON.parse(JSON.stringify(plan).replaceAll(dir.path, '$DIR'))
}

function faultsOf(
  files: Readonly<Record<string, string | Uint8Array>>,
  overrides: Overrides = {},
  cores?: number,
): string {
  try {
    load(files, overrides, cores)
  } catch (error) {
    if (error instanceof Error && error.name === 'UserError') return error.message
    throw error
  }
  throw new Error('no fault was found')
}

const faultsOfScenario = (text: string): string => faultsOf({ 'scenarios/a.yml': text })
const faultsOfTarget = (text: string): string =>
  faultsOf({ 'scenarios/a.yml': 'target: ../targets/t', 'targets/t/target.yml': text })

describe('a scenario', () => {
  it('gets defaults for all that it does not say', () => {
    expect(load({ 'scenarios/a.yml': 'target: ../targets/hello' })).toMatchInlineSnapshot(`
      {
        "cases": [
          {
            "coldStarts": 5,
            "engine": "autocannon",
            "file": "scenarios/a.yml",
            "id": "a/hello/autocannon/c16/unlimited",
            "limits": {
              "periodUs": 100000,
            },
            "load": {
              "connection": "keep-alive",
              "connections": 16,
              "model": "closed",
              "stop": {
                "durationMs": 5000,
                "kind": "duration",
              },
              "timeoutMs": 10000,
              "warmupMs": 2000,
            },
            "requests": [
              {
                "headers": {},
                "method": "GET",
                "name": "GET /",
                "path": "/",
                "weight": 1,
              },
            ],
            "runs": 3,
            "scenario": "a",
            "target": "hello",
          },
        ],
        "seed": 1,
        "targets": [
          {
            "capabilities": [],
            "env": {},
            "name": "hello",
            "port": 80,
            "prepare": [],
            "ready": {
              "kind": "tcp",
              "timeoutMs": 60000,
            },
            "source": {
              "image": "nginx",
              "kind": "image",
            },
            "verify": [],
          },
        ],
      }
    `)
  })

  it('says everything', () => {
    const plan = load({
      'scenarios/shop.yml': `
# yaml-language-server: $schema=../schema/scenario.schema.json
description: all keys
target:
  build: { context: ../app, dockerfile: Dockerfile.slim, args: { VERSION: 1.10 } }
  port: 8080
  env: { LEVEL: warn, PORT: 8080, DEBUG: false, VERSION: 1.10 }
  command: [node, server.js, --port, 8080]
  capabilities: [CHOWN, SETUID]
  ready: { path: /healthz, timeout: 1m30s }
  prepare:
    - { method: POST, path: '/items/{i}', json: { id: 1 }, repeat: 500 }
    - { command: [./fill, 10] }
  verify:
    - { path: /items/1, expect: { status: 200, body: Ada, json: { id: 1, gone: null } } }
    - { path: / }
engine: [autocannon]
requests:
  - { name: page, path: /, weight: 2, status: [200, 304], headers: { accept: text/html } }
  - { method: POST, path: /items, body-file: ../app/item.xml, status: 201 }
  - { method: PUT, path: /items/1, json: [1], headers: { Content-Type: application/x-list } }
load: { connections: [4, 16], requests: 1000, warmup: 0s, connection: per-request, timeout: 500ms }
limits: { cpus: [0.25, unlimited], memory: [512MB, 1GiB], period: 10ms }
runs: 1
cold-starts: 0
`,
      'app/Dockerfile.slim': 'FROM scratch',
      'app/item.xml': '<item/>\n',
    })
    expect(plan.targets).toMatchInlineSnapshot(`
      [
        {
          "capabilities": [
            "CHOWN",
            "SETUID",
          ],
          "command": [
            "node",
            "server.js",
            "--port",
            "8080",
          ],
          "env": {
            "DEBUG": "false",
            "LEVEL": "warn",
            "PORT": "8080",
            "VERSION": "1.10",
          },
          "name": "shop",
          "port": 8080,
          "prepare": [
            {
              "kind": "request",
              "repeat": 500,
              "request": {
                "body": "{"id":1}",
                "headers": {
                  "content-type": "application/json",
                },
                "method": "POST",
                "path": "/items/{i}",
              },
            },
            {
              "command": [
                "./fill",
                "10",
              ],
              "kind": "command",
            },
          ],
          "ready": {
            "kind": "http",
            "path": "/healthz",
            "timeoutMs": 90000,
          },
          "source": {
            "args": {
              "VERSION": "1.10",
            },
            "context": "$DIR/app",
            "dockerfile": "$DIR/app/Dockerfile.slim",
            "kind": "build",
          },
          "verify": [
            {
              "body": "Ada",
              "json": {
                "gone": null,
                "id": 1,
              },
              "request": {
                "headers": {},
                "method": "GET",
                "path": "/items/1",
              },
              "status": 200,
            },
            {
              "request": {
                "headers": {},
                "method": "GET",
                "path": "/",
              },
            },
          ],
        },
      ]
    `)
    expect(plan.cases[0]).toMatchInlineSnapshot(`
      {
        "coldStarts": 0,
        "engine": "autocannon",
        "file": "scenarios/shop.yml",
        "id": "shop/shop/autocannon/c4/cpus-0.25/mem-512MB",
        "limits": {
          "cpus": 0.25,
          "memoryBytes": 512000000,
          "periodUs": 10000,
        },
        "load": {
          "connection": "per-request",
          "connections": 4,
          "model": "closed",
          "stop": {
            "count": 1000,
            "kind": "requests",
          },
          "timeoutMs": 500,
          "warmupMs": 0,
        },
        "requests": [
          {
            "headers": {
              "accept": "text/html",
            },
            "method": "GET",
            "name": "page",
            "path": "/",
            "status": [
              200,
              304,
            ],
            "weight": 2,
          },
          {
            "body": "<item/>
      ",
            "headers": {},
            "method": "POST",
            "name": "POST /items",
            "path": "/items",
            "status": [
              201,
            ],
            "weight": 1,
          },
          {
            "body": "[1]",
            "headers": {
              "Content-Type": "application/x-list",
            },
            "method": "PUT",
            "name": "PUT /items/1",
            "path": "/items/1",
            "weight": 1,
          },
        ],
        "runs": 1,
        "scenario": "shop",
        "target": "shop",
      }
    `)
    expect(plan.cases.map(({ id }) => id)).toMatchInlineSnapshot(`
      [
        "shop/shop/autocannon/c4/cpus-0.25/mem-512MB",
        "shop/shop/autocannon/c4/unlimited/mem-512MB",
        "shop/shop/autocannon/c4/cpus-0.25/mem-1GiB",
        "shop/shop/autocannon/c4/unlimited/mem-1GiB",
        "shop/shop/autocannon/c16/cpus-0.25/mem-512MB",
        "shop/shop/autocannon/c16/unlimited/mem-512MB",
        "shop/shop/autocannon/c16/cpus-0.25/mem-1GiB",
        "shop/shop/autocannon/c16/unlimited/mem-1GiB",
      ]
    `)
  })

  it('compares several targets, each loaded once', () => {
    const plan = load({
      'scenarios/a.yml':
        'targets: [../targets/hello, { name: other, image: httpd, port: 80 }]\nlimits: { cpus: 0.5 }',
      'scenarios/b.yml': 'target: ../targets/hello',
    })
    expect(plan.targets.map(({ name }) => name)).toEqual(['hello', 'other'])
    expect(plan.cases.map(({ id }) => id)).toEqual([
      'a/hello/autocannon/c16/cpus-0.5',
      'a/other/autocannon/c16/cpus-0.5',
      'b/hello/autocannon/c16/unlimited',
    ])
  })

  it('measures a url without limits and cold starts', () => {
    const plan = load({ 'scenarios/a.yml': 'target: { url: "https://example.com/" }' })
    expect(plan.targets[0]).toMatchObject({
      source: { kind: 'url', url: 'https://example.com' },
      port: 443,
      ready: { kind: 'tcp' },
    })
    expect(plan.cases[0]).toMatchObject({ coldStarts: 0, limits: { periodUs: 100_000 } })
  })

  it('repeats values by alias', () => {
    const plan = load({
      'scenarios/a.yml':
        'target: ../targets/hello\nrequests: [{ path: /a, headers: &h { a: 1.0 } }, { path: /b, headers: *h }]',
    })
    expect(plan.cases[0].requests.map(({ headers }) => headers)).toEqual([{ a: '1.0' }, { a: '1.0' }])
  })

  it('is read once when it is named twice', () => {
    using dir = makeTempDir({ 'a.yml': 'target: { image: nginx, port: 80 }' })
    const files = ['a.yml', './a.yml', path.join(dir.path, 'a.yml')]
    expect(loadPlan(files, {}, { cwd: dir.path, seed: 1 }).cases).toHaveLength(1)
  })
})

describe('faults of a scenario', () => {
  const target = 'target: ../targets/hello\n'
  it.each<[string, string, string[]]>([
    [
      'an empty file',
      '',
      [
        'scenarios/a.yml:1: must be a mapping with the keys name, description, target, targets, engine, requests, load, limits, runs, cold-starts, not empty',
      ],
    ],
    [
      'a list',
      '- a',
      [
        'scenarios/a.yml:1: must be a mapping with the keys name, description, target, targets, engine, requests, load, limits, runs, cold-starts, not a list',
      ],
    ],
    [
      'no target',
      'runs: 3',
      [
        'scenarios/a.yml:1: target is required: a folder that holds target.yml, or a mapping with the keys of a target',
      ],
    ],
    [
      'two kinds of target',
      `${target}targets: [../targets/hello]`,
      ['scenarios/a.yml:2: targets excludes target; give one'],
    ],
    [
      'a target that is a number',
      'target: 5',
      [
        'scenarios/a.yml:1: target must be a folder that holds target.yml, or a mapping with the keys of a target, not 5',
      ],
    ],
    [
      'a missing target folder',
      'target: ../targets/nope',
      [
        'scenarios/a.yml:1: target must be a folder that holds target.yml, not "../targets/nope", which does not exist',
      ],
    ],
    [
      'a target folder without target.yml',
      'target: .',
      ['scenarios/a.yml:1: target must be a folder that holds target.yml, not ".", which has no target.yml'],
    ],
    [
      'target.yml named itself',
      'target: ../targets/hello/target.yml',
      [
        'scenarios/a.yml:1: target must be a folder that holds target.yml, not "../targets/hello/target.yml", which is a file',
      ],
    ],
    [
      'names that no file has',
      'targets: ["\\0", hello.yml/x]\nrequests: [{ path: /, body-file: "\\0" }]',
      [
        'scenarios/a.yml:1: targets[0] must be a folder that holds target.yml, not "\\u0000", which does not exist',
        'scenarios/a.yml:1: targets[1] must be a folder that holds target.yml, not "hello.yml/x", which does not exist',
        'scenarios/a.yml:2: requests[0].body-file must be a text file, not "\\u0000": has a zero byte in its name',
      ],
    ],
    [
      'the same target twice',
      'targets: [../targets/hello, ../targets/hello/]',
      ['scenarios/a.yml:1: targets[1] names target hello a second time'],
    ],
    [
      'an inline target in a list without a name',
      'targets: [{ image: nginx, port: 80 }]',
      ['scenarios/a.yml:1: targets[0].name is required for a target inside a list of several'],
    ],
    [
      'an inline target that takes the name of another',
      'targets: [../targets/hello, { name: hello, image: x, port: 1 }]',
      ['scenarios/a.yml:1: target name hello is taken by targets/hello/target.yml:1; set another with name:'],
    ],
    [
      'a key with a slip',
      `${target}load:\n  conections: 5`,
      ['scenarios/a.yml:3: unknown key load.conections; did you mean connections?'],
    ],
    [
      'a key from nowhere',
      `${target}load:\n  zzz: 5`,
      [
        'scenarios/a.yml:3: unknown key load.zzz; allowed: connections, duration, requests, warmup, connection, timeout',
      ],
    ],
    [
      'several unknown keys, one with a line break',
      `${target}"a\\nb: c": 1\nrequsts: []`,
      [
        'scenarios/a.yml:2: unknown key ["a\\nb: c"]; allowed: name, description, target, targets, engine, requests, load, limits, runs, cold-starts',
        'scenarios/a.yml:3: unknown key requsts; did you mean requests?',
      ],
    ],
    [
      'keys on the wrong level',
      `${target}connections: 5\ncpus: 1\nport: 80`,
      [
        'scenarios/a.yml:2: unknown key connections; did you mean load.connections?',
        'scenarios/a.yml:3: unknown key cpus; did you mean limits.cpus?',
        'scenarios/a.yml:4: unknown key port; did you mean target.port?',
      ],
    ],
    [
      'a rate',
      `${target}load: { rate: 100 }`,
      [
        'scenarios/a.yml:2: load.rate is not supported: autocannon is a closed model, in which a connection sends its next request when the last was answered, so that no rate can be held; give connections',
      ],
    ],
    [
      'another engine',
      `${target}engine: k6`,
      ['scenarios/a.yml:2: engine must be autocannon, not "k6", which this version does not support'],
    ],
    [
      'another engine in a list',
      `${target}engine: [autocannon, bees]`,
      ['scenarios/a.yml:2: engine[1] must be autocannon, not "bees"'],
    ],
    [
      'no connections',
      `${target}load:\n\n  connections: 0`,
      ['scenarios/a.yml:4: load.connections must be an integer >= 1, not 0'],
    ],
    [
      'connections in a list',
      `${target}load:\n  connections:\n    - 1\n    - 1.5\n    - x\n    - 1`,
      [
        'scenarios/a.yml:5: load.connections[1] must be an integer >= 1, not 1.5',
        'scenarios/a.yml:6: load.connections[2] must be an integer >= 1, not "x"',
      ],
    ],
    [
      'an empty list',
      `${target}load: { connections: [] }`,
      ['scenarios/a.yml:2: load.connections must be an integer >= 1, or a list of such, not an empty list'],
    ],
    [
      'load without a value',
      `${target}load:`,
      [
        'scenarios/a.yml:2: load must be a mapping with the keys connections, duration, requests, warmup, connection, timeout, not empty',
      ],
    ],
    [
      'times without a unit',
      `${target}load: { duration: 5, warmup: "2", timeout: 1000 }`,
      [
        'scenarios/a.yml:2: load.duration must be a time such as 500ms, 5s or 1m30s, not 5',
        'scenarios/a.yml:2: load.warmup must be a time such as 500ms, 5s or 1m30s, not "2"',
        'scenarios/a.yml:2: load.timeout must be a time such as 500ms, 5s or 1m30s, not 1000',
      ],
    ],
    [
      'times out of range',
      `${target}load: { duration: 50ms, warmup: 2h, timeout: 0.5ms }`,
      [
        'scenarios/a.yml:2: load.duration must be a time from 100ms to 1h, in whole milliseconds, not "50ms"',
        'scenarios/a.yml:2: load.warmup must be a time from 0s to 1h, in whole milliseconds, not "2h"',
        'scenarios/a.yml:2: load.timeout must be a time from 1ms to 1h, in whole milliseconds, not "0.5ms"',
      ],
    ],
    [
      'time and count',
      `${target}load: { duration: 5s, requests: 10 }`,
      ['scenarios/a.yml:2: load.requests excludes duration; give one'],
    ],
    [
      'fewer requests than connections',
      `${target}load: { connections: [4, 16], requests: 10 }`,
      ['scenarios/a.yml:2: load.requests must be at least the connections (16), not 10'],
    ],
    [
      'no requests',
      `${target}requests: []`,
      ['scenarios/a.yml:2: requests must be a list of requests, not an empty list'],
    ],
    [
      'requests in words',
      `${target}requests: /`,
      ['scenarios/a.yml:2: requests must be a list of requests, not "/"'],
    ],
    [
      'paths',
      `${target}requests: [{ path: items }, { path: /a b }, { path: //x }, { path: "/ä" }, {}]`,
      [
        'scenarios/a.yml:2: requests[0].path must be a path that starts with one "/" and holds no spaces, "#" or unescaped non-ASCII characters, not "items"',
        'scenarios/a.yml:2: requests[1].path must be a path that starts with one "/" and holds no spaces, "#" or unescaped non-ASCII characters, not "/a b"',
        'scenarios/a.yml:2: requests[2].path must be a path that starts with one "/" and holds no spaces, "#" or unescaped non-ASCII characters, not "//x"',
        'scenarios/a.yml:2: requests[3].path must be a path that starts with one "/" and holds no spaces, "#" or unescaped non-ASCII characters, not "/ä"',
        'scenarios/a.yml:2: requests[4].path is required: a path that starts with one "/" and holds no spaces, "#" or unescaped non-ASCII characters',
      ],
    ],
    [
      'method, weight, status',
      `${target}requests: [{ path: /, method: get, weight: 0, status: [99, "200"] }]`,
      [
        'scenarios/a.yml:2: requests[0].method must be GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS, not "get"',
        'scenarios/a.yml:2: requests[0].weight must be an integer from 1 to 1000, not 0',
        'scenarios/a.yml:2: requests[0].status[0] must be an integer from 200 to 599, not 99',
        'scenarios/a.yml:2: requests[0].status[1] must be an integer from 200 to 599, not "200"',
      ],
    ],
    [
      'two bodies',
      `${target}requests: [{ path: /, body: x, json: {} }]`,
      ['scenarios/a.yml:2: requests[0].json excludes body; give one'],
    ],
    [
      'a body that is not text',
      `${target}requests: [{ path: /, body: { a: 1 } }]`,
      ['scenarios/a.yml:2: requests[0].body must be text; json: sends any value as JSON, not a mapping'],
    ],
    [
      'json that JSON has not',
      `${target}requests: [{ path: /, json: { a: .inf } }]`,
      ['scenarios/a.yml:2: requests[0].json must be a value that JSON has: no .inf or .nan'],
    ],
    [
      'a missing body file',
      `${target}requests:\n  - path: /\n    body-file: ./nope.json`,
      ['scenarios/a.yml:4: requests[0].body-file must be a text file, not "./nope.json": does not exist'],
    ],
    [
      'headers',
      `${target}requests: [{ path: /, headers: { "a b": x, Connection: close, A: "x\\ny", q: [] } }]`,
      [
        'scenarios/a.yml:2: requests[0].headers["a b"] is not a header name: letters, digits and "-"',
        'scenarios/a.yml:2: requests[0].headers.A must be one line',
        'scenarios/a.yml:2: requests[0].headers.q must be text, a number, true or false, not an empty list',
        'scenarios/a.yml:2: requests[0].headers.Connection is set by the engine; load.connection chooses keep-alive or per-request',
      ],
    ],
    [
      'a header twice',
      `${target}requests: [{ path: /, headers: { Accept: a, accept: b } }]`,
      ['scenarios/a.yml:2: requests[0].headers.accept stands twice, in other letter case'],
    ],
    [
      'requests of one name',
      `${target}requests: [{ path: / }, { path: /, body: x }, { name: GET /, path: /b }]`,
      [
        'scenarios/a.yml:2: requests[1] needs a name of its own: requests[0] is called "GET /" too',
        'scenarios/a.yml:2: requests[2].name needs a name of its own: requests[0] is called "GET /" too',
      ],
    ],
    [
      'cpus',
      `${target}limits: { cpus: [0, -1, x, 0.5, 0.50, .nan] }`,
      [
        'scenarios/a.yml:2: limits.cpus[0] must be a number >= 0.01 (cores) or unlimited, not 0',
        'scenarios/a.yml:2: limits.cpus[1] must be a number >= 0.01 (cores) or unlimited, not -1',
        'scenarios/a.yml:2: limits.cpus[2] must be a number >= 0.01 (cores) or unlimited, not "x"',
        'scenarios/a.yml:2: limits.cpus[5] must be a number >= 0.01 (cores) or unlimited, not NaN',
        'scenarios/a.yml:2: limits.cpus[4] repeats the value of [3]',
      ],
    ],
    [
      'a quota below 1 ms',
      `${target}limits: { cpus: [0.05, 0.5], period: 10ms }`,
      [
        "scenarios/a.yml:2: limits.cpus[0] must be at least 0.1 with limits.period 10ms, not 0.05: the kernel's least quota is 1ms a period; a period of 20ms would do",
      ],
    ],
    [
      'memory',
      `${target}limits: { memory: [512, 512M, 1MB, 512MB, 0.512GB] }`,
      [
        'scenarios/a.yml:2: limits.memory[0] must be a size such as 64MB, 512MiB or 1GB, or unlimited, not 512',
        'scenarios/a.yml:2: limits.memory[1] must be a size such as 64MB, 512MiB or 1GB, or unlimited, not "512M"',
        'scenarios/a.yml:2: limits.memory[2] must be at least 6MiB, Docker\'s minimum, not "1MB"',
        'scenarios/a.yml:2: limits.memory[4] repeats the value of [3]',
      ],
    ],
    [
      'a period out of range',
      `${target}limits: { period: 2s }`,
      ['scenarios/a.yml:2: limits.period must be a time from 1ms to 1s, not "2s"'],
    ],
    [
      'runs and cold starts',
      `${target}runs: 0\ncold-starts: -1`,
      [
        'scenarios/a.yml:2: runs must be an integer >= 1, not 0',
        'scenarios/a.yml:3: cold-starts must be an integer >= 0, not -1',
      ],
    ],
    [
      'a bad name',
      `${target}name: Hello World`,
      [
        'scenarios/a.yml:2: name must be a name of a-z, 0-9, ".", "_" and "-" that starts with a letter or digit, not "Hello World"',
      ],
    ],
    [
      'limits and cold starts of a url',
      'target: { url: "http://a" }\nlimits: { cpus: 1 }\ncold-starts: 5',
      [
        'scenarios/a.yml:2: limits is not allowed: target a is a url, which has no container to limit',
        'scenarios/a.yml:3: cold-starts is not allowed: target a is a url, which has no container to start',
      ],
    ],
  ])('%s', (_name, text, lines) => {
    expect(faultsOfScenario(text)).toBe(lines.join('\n'))
  })
})

describe('faults of a target', () => {
  it.each<[string, string, string[]]>([
    ['no source', 'port: 80', ['targets/t/target.yml:1: needs one of build, image or url']],
    [
      'two sources',
      'image: x\nbuild: .\nport: 80',
      ['targets/t/target.yml:1: image excludes build; give one'],
    ],
    [
      'no port',
      'image: x',
      ['targets/t/target.yml:1: port is required: the port that the service listens on, 1 to 65535'],
    ],
    [
      'a port out of range',
      'image: x\nport: 65536',
      ['targets/t/target.yml:2: port must be an integer from 1 to 65535, not 65536'],
    ],
    [
      'an image that is an option',
      'image: --privileged\nport: 80',
      ['targets/t/target.yml:1: image must be an image such as nginx:1.29, not "--privileged"'],
    ],
    [
      'what this version has not',
      'compose: ./compose.yml\nprotocol: grpc\nport: 80',
      [
        'targets/t/target.yml:1: compose is not supported: this version runs a single container; give build, image or url',
        'targets/t/target.yml:1: needs one of build, image or url',
        'targets/t/target.yml:2: protocol is not supported: this version speaks HTTP/1.1 only',
      ],
    ],
    [
      'a missing context',
      'build: ./src\nport: 80',
      ['targets/t/target.yml:1: build must be a folder that exists, not "./src"'],
    ],
    [
      'a context without a Dockerfile',
      'build: .\nport: 80',
      ['targets/t/target.yml:1: build must be a folder with a Dockerfile; "." has none'],
    ],
    [
      'a missing Dockerfile',
      'build: { context: ., dockerfile: Dockerfile.x }\nport: 80',
      [
        'targets/t/target.yml:1: build.dockerfile must be a file that exists in the context, not "Dockerfile.x"',
      ],
    ],
    [
      'a slip in build',
      'build:\n  contxt: .\nport: 80',
      [
        'targets/t/target.yml:1: build.context is required: a path',
        'targets/t/target.yml:2: unknown key build.contxt; did you mean context?',
      ],
    ],
    [
      'build as a number',
      'build: 5\nport: 80',
      ['targets/t/target.yml:1: build must be a folder, or a mapping with context, dockerfile, args, not 5'],
    ],
    [
      'a command in words',
      'image: x\nport: 80\ncommand: node server.js',
      [
        'targets/t/target.yml:3: command must be a list of words such as [node, server.js], not text: no shell splits it; for a shell write [sh, -c, "node server.js"]',
      ],
    ],
    [
      'an empty command',
      'image: x\nport: 80\ncommand: []',
      [
        'targets/t/target.yml:3: command must be a list of words such as [node, server.js], not an empty list',
      ],
    ],
    [
      'env',
      'image: x\nport: 80\nenv:\n  A: [1]\n  B:\n  "C=D": 1',
      [
        'targets/t/target.yml:4: env.A must be text, a number, true or false, not a list',
        'targets/t/target.yml:5: env.B must be text, a number, true or false, not empty',
        'targets/t/target.yml:6: env["C=D"] is not a name: no spaces, no "="',
      ],
    ],
    [
      'a capability that Docker does not give by default',
      'image: x\nport: 80\ncapabilities: [CHOWN, SYS_ADMIN]',
      [
        'targets/t/target.yml:3: capabilities[1] must be one of AUDIT_WRITE, CHOWN, DAC_OVERRIDE, FOWNER, FSETID, KILL, MKNOD, NET_BIND_SERVICE, NET_RAW, SETFCAP, SETGID, SETPCAP, SETUID, SYS_CHROOT, not "SYS_ADMIN"',
      ],
    ],
    [
      'ready as a number',
      'image: x\nport: 80\nready: 5',
      [
        'targets/t/target.yml:3: ready must be a path such as /healthz, or a mapping with path, tcp or command, and timeout, not 5',
      ],
    ],
    [
      'ready as a bad path',
      'image: x\nport: 80\nready: healthz',
      [
        'targets/t/target.yml:3: ready must be a path that starts with one "/" and holds no spaces, "#" or unescaped non-ASCII characters, not "healthz"',
      ],
    ],
    [
      'ready in two ways',
      'image: x\nport: 80\nready: { path: /, tcp: true }',
      ['targets/t/target.yml:3: ready.tcp excludes path; give one'],
    ],
    [
      'a slip in ready',
      'image: x\nport: 80\nready: { pat: /, timeout: 60 }',
      [
        'targets/t/target.yml:3: ready.timeout must be a time such as 500ms, 5s or 1m30s, not 60',
        'targets/t/target.yml:3: unknown key ready.pat; did you mean path?',
      ],
    ],
    [
      'prepare',
      'image: x\nport: 80\nprepare: [{}, { command: [a], path: / }, { command: a }, 5, { path: /, repeat: 0 }]',
      [
        'targets/t/target.yml:3: prepare[0] needs path (a request) or command',
        'targets/t/target.yml:3: prepare[1].command excludes path; a step is a command or a request',
        'targets/t/target.yml:3: prepare[2].command must be a list of words such as [node, server.js], not text: no shell splits it; for a shell write [sh, -c, "a"]',
        'targets/t/target.yml:3: prepare[3] must be a mapping with the keys method, path, headers, body, json, body-file, repeat, command, not 5',
        'targets/t/target.yml:3: prepare[4].repeat must be an integer >= 1, not 0',
      ],
    ],
    [
      'verify',
      'image: x\nport: 80\nverify: [{ expect: { status: ok, body: "", jsn: 1 } }]',
      [
        'targets/t/target.yml:3: verify[0].path is required: a path that starts with one "/" and holds no spaces, "#" or unescaped non-ASCII characters',
        'targets/t/target.yml:3: verify[0].expect.status must be an integer from 200 to 599, not "ok"',
        'targets/t/target.yml:3: verify[0].expect.body must be text, not empty',
        'targets/t/target.yml:3: unknown key verify[0].expect.jsn; did you mean json?',
      ],
    ],
    [
      'a url with a path',
      'url: http://a/b',
      [
        'targets/t/target.yml:1: url must be an origin such as http://127.0.0.1:8080 (http or https, no path; requests have the paths), not "http://a/b"',
      ],
    ],
    [
      'a url of another scheme',
      'url: ftp://a',
      [
        'targets/t/target.yml:1: url must be an origin such as http://127.0.0.1:8080 (http or https, no path; requests have the paths), not "ftp://a"',
      ],
    ],
    [
      'a url with a password',
      'url: http://u:p@a',
      [
        'targets/t/target.yml:1: url must be an origin such as http://127.0.0.1:8080 (http or https, no path; requests have the paths), not "http://u:p@a"',
      ],
    ],
    [
      'a url with what containers have',
      'url: http://a\nport: 80\nenv: {}\nready: { command: [a] }\nprepare: [{ command: [a] }]',
      [
        'targets/t/target.yml:2: port is not allowed with url, which runs already',
        'targets/t/target.yml:3: env is not allowed with url, which runs already',
        'targets/t/target.yml:4: ready.command is not allowed with url: there is no container to run it in',
        'targets/t/target.yml:5: prepare[0].command is not allowed with url: there is no container to run it in',
      ],
    ],
  ])('%s', (_name, text, lines) => {
    expect(faultsOfTarget(text)).toBe(lines.join('\n'))
  })
})

describe('faults of YAML', () => {
  it.each<[string, string, string[]]>([
    [
      'syntax',
      'target: [a\nruns: 3',
      ['scenarios/a.yml:2: Flow sequence in block collection must be sufficiently indented and end with a ]'],
    ],
    ['a tab', 'load:\n\tconnections: 3', ['scenarios/a.yml:2: Tabs are not allowed as indentation']],
    [
      'a key twice',
      'target: a\nruns: 3\nruns: 4',
      ['scenarios/a.yml:3: key runs stands twice in one mapping'],
    ],
    [
      'two documents',
      'target: a\n---\ntarget: b',
      ['scenarios/a.yml:2: a second document; a file holds one'],
    ],
    [
      'tags',
      'target: !!js/function "x"\nruns: !!int "3"\nname: !x y',
      [
        'scenarios/a.yml:1: tag tag:yaml.org,2002:js/function is not allowed',
        'scenarios/a.yml:2: tag tag:yaml.org,2002:int is not allowed',
        'scenarios/a.yml:3: tag !x is not allowed',
      ],
    ],
    ['an alias of nothing', 'target: *x', ['scenarios/a.yml:1: alias *x has no anchor']],
    [
      'an alias inside itself',
      'target: &x\n  env: *x',
      ['scenarios/a.yml:2: alias *x stands inside what it repeats'],
    ],
    ['a mapping as a key', '? { a: 1 }\n: 1', ['scenarios/a.yml:1: a key must be a plain word']],
    ['another version', '%YAML 1.1\n---\ntarget: a', ['scenarios/a.yml:1: a %YAML directive is not allowed']],
    [
      'a merge key',
      'target: ../targets/hello\nload: &l { connections: 1 }\nlimits: { <<: *l }',
      ['scenarios/a.yml:3: unknown key limits.<<; allowed: cpus, memory, period'],
    ],
    [
      'aliases that explode',
      ['a: &a [x, x, x, x, x, x, x, x, x]']
        .concat(
          [...'bcdefgh'].map(
            (key, i) => `${key}: &${key} [${Array(9).fill(`*${'abcdefgh'[i]}`).join(', ')}]`,
          ),
        )
        .join('\n'),
      [
        'scenarios/a.yml: aliases expand too much: Excessive alias count indicates a resource exhaustion attack',
      ],
    ],
  ])('%s', (_name, text, lines) => {
    expect(faultsOfScenario(text)).toBe(lines.join('\n'))
  })

  it('names files that cannot be read', () => {
    using dir = makeTempDir({
      'big.yml': ' '.repeat(1_000_001),
      'latin1.yml': new Uint8Array([0x61, 0xe4]),
      'folder/x': '',
    })
    expect(() =>
      loadPlan(['big.yml', 'latin1.yml', 'folder', 'none.yml'], {}, { cwd: dir.path, seed: 1 }),
    ).toThrowErrorMatchingInlineSnapshot(`
      [UserError: big.yml: is larger than 1 MB
      latin1.yml: is not UTF-8 text
      folder: is a folder, not a file
      none.yml: does not exist]
    `)
  })
})

describe('faults across files', () => {
  it('are reported together, in the order of files and lines, none twice', () => {
    const files = {
      'scenarios/a.yml': 'target: ../targets/t\nruns: 0\nload: { connections: 0 }\nlimits: { cpus: 9 }',
      'scenarios/b.yml': 'target: ../targets/t\nlod: {}\nrequests: [{ path: /, body-file: x }]',
      'targets/t/target.yml': 'build: ./nope\nprot: 80',
    }
    expect(faultsOf(files, { runs: 'x' }, 2)).toMatchInlineSnapshot(`
      "--runs: must be an integer >= 1, not "x"
      scenarios/a.yml:2: runs must be an integer >= 1, not 0
      scenarios/a.yml:3: load.connections must be an integer >= 1, not 0
      scenarios/a.yml:4: limits.cpus must be from 0.01 to 2, the cores of this machine, or unlimited, not 9
      targets/t/target.yml:1: port is required: the port that the service listens on, 1 to 65535
      targets/t/target.yml:1: build must be a folder that exists, not "./nope"
      targets/t/target.yml:2: unknown key prot; did you mean port?
      scenarios/b.yml:2: unknown key lod; did you mean load?
      scenarios/b.yml:3: requests[0].body-file must be a text file, not "x": does not exist"
    `)
  })

  it('names the other one when a scenario or target has its name', () => {
    const files = {
      'scenarios/a.yml': 'target: ../targets/hello',
      'scenarios/b.yml': 'name: a\ntarget: ../more/hello',
      'more/hello/target.yml': HELLO,
      'scenarios/hello.yml': 'target: { image: x, port: 1 }',
    }
    expect(faultsOf(files)).toMatchInlineSnapshot(`
      "scenarios/b.yml:1: scenario name a is taken by scenarios/a.yml:1; set another with name:
      more/hello/target.yml:1: target name hello is taken by targets/hello/target.yml:1; set another with name:
      scenarios/hello.yml:1: target name hello is taken by targets/hello/target.yml:1; set another with name:"
    `)
  })

  it('refuses file and folder names that do not make an id', () => {
    const files = {
      'scenarios/Big Load.yml': 'target: ../targets/My_Target',
      'targets/My_Target/target.yml': HELLO,
    }
    expect(faultsOf(files)).toMatchInlineSnapshot(`
      "scenarios/Big Load.yml:1: scenario name "Big Load" must be of a-z, 0-9, ".", "_" and "-" and start with a letter or digit; rename it, or set name:
      targets/My_Target/target.yml:1: target name "My_Target" must be of a-z, 0-9, ".", "_" and "-" and start with a letter or digit; rename it, or set name:"
    `)
  })

  it('needs a file', () => {
    expect(() => loadPlan([], {}, { cwd: '/', seed: 1 })).toThrowErrorMatchingInlineSnapshot(
      `[UserError: no scenario files; name at least one, such as scenarios/hello.yml]`,
    )
  })
})

describe('overrides', () => {
  const files = {
    'scenarios/a.yml':
      'target: ../targets/hello\nload: { connections: 4, requests: 100 }\nlimits: { cpus: 1 }',
  }

  it('replace what the scenario says', () => {
    const plan = load(files, {
      cpus: '0.1, unlimited',
      memory: '64MB',
      connections: '8',
      duration: '1s',
      warmup: '0s',
      runs: '1',
      coldStarts: '0',
      engine: 'autocannon',
      seed: '4294967295',
    })
    expect(plan.seed).toBe(4_294_967_295)
    expect(plan.cases.map(({ id }) => id)).toEqual([
      'a/hello/autocannon/c8/cpus-0.1/mem-64MB',
      'a/hello/autocannon/c8/unlimited/mem-64MB',
    ])
    expect(plan.cases[0]).toMatchObject({
      load: { stop: { kind: 'duration', durationMs: 1000 }, warmupMs: 0 },
      runs: 1,
      coldStarts: 0,
    })
  })

  it('count requests where the scenario says a duration', () => {
    const plan = load(
      { 'scenarios/a.yml': 'target: ../targets/hello\nload: { duration: 1s }' },
      { requests: '50' },
    )
    expect(plan.cases[0].load.stop).toEqual({ kind: 'requests', count: 50 })
  })

  it.each<[string, Overrides, string[]]>([
    [
      'wrong values',
      {
        cpus: '0.1,,x',
        memory: '64',
        connections: '0',
        duration: '5',
        warmup: '-1s',
        runs: '1.5',
        coldStarts: '',
        engine: 'wrk',
        seed: '-1',
      },
      [
        '--cpus: must be a number >= 0.01 (cores) or unlimited, not empty',
        '--cpus: must be a number >= 0.01 (cores) or unlimited, not "x"',
        '--memory: must be a size such as 64MB, 512MiB or 1GB, or unlimited, not 64',
        '--connections: must be an integer >= 1, not 0',
        '--duration: must be a time such as 500ms, 5s or 1m30s, not 5',
        '--warmup: must be a time such as 500ms, 5s or 1m30s, not "-1s"',
        '--runs: must be an integer >= 1, not 1.5',
        '--cold-starts: must be an integer >= 0, not empty',
        '--engine: must be autocannon, not "wrk", which this version does not support',
        '--seed: must be an integer from 0 to 4294967295, not "-1"',
      ],
    ],
    [
      'too many cores',
      { cpus: '0.1,4' },
      ['--cpus: must be from 0.01 to 2, the cores of this machine, or unlimited, not 4'],
    ],
    ['a value twice', { cpus: '0.1,0.10' }, ['--cpus: repeats the value of [0]']],
    ['time and count', { duration: '1s', requests: '5' }, ['--requests: excludes --duration; give one']],
    [
      'fewer requests than connections',
      { requests: '3' },
      ['--requests: must be at least the connections (4), not 3'],
    ],
    [
      'more connections than requests',
      { connections: '101' },
      ['--connections: must be at most load.requests of scenarios/a.yml (100)'],
    ],
    [
      'a seed too large',
      { seed: '4294967296' },
      ['--seed: must be an integer from 0 to 4294967295, not "4294967296"'],
    ],
  ])('are refused: %s', (_name, overrides, lines) => {
    expect(faultsOf(files, overrides, 2)).toBe(lines.join('\n'))
  })

  it('do not limit a url', () => {
    const url = { 'scenarios/a.yml': 'target: { url: "http://a" }' }
    expect(faultsOf(url, { cpus: '1', memory: '64MB', coldStarts: '1' })).toMatchInlineSnapshot(`
      "--cpus: is not allowed: target a is a url, which has no container to limit
      --memory: is not allowed: target a is a url, which has no container to limit
      --cold-starts: is not allowed: target a is a url, which has no container to start"
    `)
  })

  it('are called as the caller calls them', () => {
    using dir = makeTempDir({ 'a.yml': 'target: { image: x, port: 1 }' })
    expect(() =>
      loadPlan(
        ['a.yml'],
        { coldStarts: 'x' },
        { cwd: dir.path, seed: 1, nameOverride: (key) => `input ${key}` },
      ),
    ).toThrow('input coldStarts: must be an integer >= 0, not "x"')
  })
})
