import { describe, expect, test } from 'vitest'
import { UserError } from '../../src/lib/error.ts'
import type { Results } from '../../src/model/results.ts'
import { buildReport } from '../../src/report/build.ts'
import { renderMarkdown } from '../../src/report/markdown.ts'
import { parseResults, renderResults } from '../../src/report/results-file.ts'
import {
  createCase,
  createCaseResult,
  createLatency,
  createResults,
  createRun,
  createTarget,
} from '../helpers/runs.ts'

/** Everything that may be there, and everything that may be absent. */
const DOCUMENTS: Readonly<Record<string, Results>> = {
  'a finished measurement': createResults(),
  'an interrupted one': createResults({ finishedAt: undefined, cases: [] }),
  'one outside a repository, without Docker': createResults({
    revision: undefined,
    images: [],
    plan: { targets: [createTarget({ source: { kind: 'url', url: 'http://127.0.0.1:8080' } })] },
    cases: [createCaseResult({ runs: [createRun({ usage: undefined, path: 'url' })] })],
  }),
  'one of every kind of step': createResults({
    environment: { ...createResults().environment, runnerImage: 'ubuntu24 20260101.1' },
    plan: {
      targets: [
        createTarget({
          source: { kind: 'image', image: 'example:1' },
          command: ['serve', '--port', '8080'],
          ready: { kind: 'command', command: ['true'], timeoutMs: 1_000 },
          prepare: [
            { kind: 'command', command: ['seed'] },
            {
              kind: 'request',
              request: { method: 'POST', path: '/items/{i}', headers: { a: 'b' }, body: '{"i":{i}}' },
              repeat: 3,
            },
          ],
          verify: [
            { request: { method: 'GET', path: '/', headers: {} }, status: 200, body: 'a' },
            { request: { method: 'GET', path: '/json', headers: {} }, json: { a: [null, 1.5, { b: '' }] } },
          ],
        }),
        createTarget({ name: 'other', ready: { kind: 'tcp', timeoutMs: 1_000 } }),
      ],
      cases: [
        createCase({
          id: createCaseResult().id,
          file: 'scenarios/static-files.yml',
          limits: { memoryBytes: 64_000_000, periodUs: 2_500 },
          load: { stop: { kind: 'requests', count: 10 }, connection: 'per-request' },
          requests: [
            { name: 'new', method: 'POST', path: '/', headers: {}, body: '', weight: 3, status: [201, 409] },
          ],
        }),
      ],
    },
  }),
  'one that failed': createResults({
    cases: [
      createCaseResult({
        coldStarts: [{ firstAnswerUs: 6_012, totalUs: 211_034 }],
        runs: [
          createRun({ discarded: 'the host was taken away', load: { latency: createLatency() } }),
          createRun({ usage: { memoryPeakBytes: undefined }, host: { foreignOnTargetUs: undefined } }),
        ],
        failure: { stage: 'load', message: 'the target exited with code 1 under load', logTail: ['a', ''] },
      }),
    ],
  }),
}

describe.each(Object.entries(DOCUMENTS))('%s', (_, results) => {
  test('survives being written and read', () => {
    expect(parseResults(renderResults(results), 'results.json')).toEqual(results)
  })

  test('gives the same report afterwards, byte for byte', () => {
    const before = renderMarkdown(buildReport(results))
    const after = renderMarkdown(buildReport(parseResults(renderResults(results), 'results.json')))
    expect(after).toBe(before)
  })
})

describe('rejects', () => {
  const { version: _, ...unversioned } = createResults()
  const negative = createResults({ cases: [createCaseResult({ runs: [createRun({ load: { sent: -1 } })] })] })
  test.each([
    { name: 'what is no JSON', json: '{', message: /^out\/results\.json: not JSON: / },
    { name: 'nothing', json: '', message: /^out\/results\.json: not JSON: / },
    {
      name: 'another version',
      json: JSON.stringify({ ...createResults(), version: 2 }),
      message: 'out/results.json: version must be 1, not 2: is it a results.json of this bench-action?',
    },
    {
      name: 'a version as text',
      json: '{"version":"1"}',
      message: 'out/results.json: version must be 1, not "1": is it a results.json of this bench-action?',
    },
    {
      name: 'no version',
      json: JSON.stringify(unversioned),
      message:
        'out/results.json: version must be 1, not undefined: is it a results.json of this bench-action?',
    },
    { name: 'a list', json: '[]', message: /version must be 1, not undefined/ },
    { name: 'null', json: 'null', message: /version must be 1, not undefined/ },
    {
      name: 'a count below zero',
      json: renderResults(negative),
      message: 'out/results.json: cases.0.runs.0.load.sent: Too small: expected number to be >=0',
    },
    {
      name: 'a case that the plan has not',
      json: renderResults(createResults({ cases: [createCaseResult({ id: 'stranger' })] })),
      message: 'out/results.json: the plan has no case stranger',
    },
    {
      name: 'a case that is there twice',
      json: renderResults(createResults({ cases: [createCaseResult(), createCaseResult()] })),
      message: /^out\/results\.json: the case .* is there twice$/,
    },
    {
      name: 'a histogram that is none',
      json: renderResults(createResults({})).replaceAll(/"histogram": "[^"]+"/g, '"histogram": "garbage"'),
      message: /^out\/results\.json: run 1 of .* has a histogram that cannot be read$/,
    },
    { name: 'an empty document', json: '{"version":1}', message: /^out\/results\.json: tool: / },
  ])('$name', ({ json, message }) => {
    const parse = () => parseResults(json, 'out/results.json')
    expect(parse).toThrow(UserError)
    expect(parse).toThrow(message)
  })

  test('with five faults at most', () => {
    const parse = () => parseResults('{"version":1}', 'results.json')
    expect(parse).toThrow(/^(?:[^\n]+\n){4}[^\n]+$/)
  })
})
