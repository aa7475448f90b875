import { describe, expect, test } from 'vitest'
import { findFault } from '../../src/bench/probe.ts'
import type { Verification } from '../../src/model/target.ts'

interface Answered {
  readonly expected: Omit<Verification, 'request'>
  readonly status: number
  readonly body: string
}

describe('findFault', () => {
  test.each<Answered & { readonly name: string }>([
    { name: 'any 2xx will do', expected: {}, status: 204, body: '' },
    { name: 'the very status', expected: { status: 404 }, status: 404, body: '' },
    { name: 'a part of the body', expected: { body: 'files' }, status: 200, body: 'three files' },
    {
      name: 'a subset of an object, at any depth',
      expected: { json: { a: { b: 1 } } },
      status: 200,
      body: '{"a":{"b":1,"c":2},"d":3}',
    },
    { name: 'an equal list', expected: { json: [1, { a: 2 }] }, status: 200, body: '[1,{"a":2}]' },
    { name: 'null', expected: { json: null }, status: 200, body: 'null' },
    { name: 'a key that holds null', expected: { json: { a: null } }, status: 200, body: '{"a":null}' },
    { name: 'the empty object in any object', expected: { json: {} }, status: 200, body: '{"a":1}' },
    {
      name: 'all of them',
      expected: { status: 201, body: 'id', json: { id: 7 } },
      status: 201,
      body: '{"id":7}',
    },
  ])('accepts $name', ({ expected, status, body }) => {
    expect(findFault(expected, { status, body })).toBeUndefined()
  })

  test.each<Answered & { readonly fault: string }>([
    { expected: {}, status: 302, body: '', fault: 'answers with status 302, not 200-299' },
    { expected: {}, status: 199, body: '', fault: 'answers with status 199, not 200-299' },
    { expected: { status: 404 }, status: 200, body: '', fault: 'answers with status 200, not 404' },
    {
      expected: { body: 'files' },
      status: 200,
      body: 'nothing "here"\n',
      fault: String.raw`answers "nothing \"here\"\n", which does not contain "files"`,
    },
    { expected: { json: {} }, status: 200, body: '<p>', fault: 'answers "<p>", which is not JSON' },
    // Lists are compared whole.
    {
      expected: { json: [1] },
      status: 200,
      body: '[1,2]',
      fault: 'answers "[1,2]", which does not contain "[1]"',
    },
    {
      expected: { json: [{ a: 1 }] },
      status: 200,
      body: '[{"a":1,"b":2}]',
      fault: String.raw`answers "[{\"a\":1,\"b\":2}]", which does not contain "[{\"a\":1}]"`,
    },
    // A key that is not there is not one that holds null.
    {
      expected: { json: { a: null } },
      status: 200,
      body: '{}',
      fault: String.raw`answers "{}", which does not contain "{\"a\":null}"`,
    },
    // What every object inherits is not in the answer.
    {
      expected: { json: { constructor: {} } },
      status: 200,
      body: '{}',
      fault: String.raw`answers "{}", which does not contain "{\"constructor\":{}}"`,
    },
    {
      expected: { json: { a: 1 } },
      status: 200,
      body: 'null',
      fault: String.raw`answers "null", which does not contain "{\"a\":1}"`,
    },
    // The status is looked at first.
    {
      expected: { body: 'files' },
      status: 500,
      body: 'boom',
      fault: 'answers with status 500, not 200-299',
    },
  ])('$body with status $status for $expected: $fault', ({ expected, status, body, fault }) => {
    expect(findFault(expected, { status, body })).toBe(fault)
  })

  test('cuts a long answer', () => {
    const fault = findFault({ body: 'x' }, { status: 200, body: 'y'.repeat(1_000) })
    expect(fault).toBe(`answers "${'y'.repeat(120)}…", which does not contain "x"`)
  })
})
