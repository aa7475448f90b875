import { expect, it } from 'vitest'
import { parseYaml, type YamlDocument } from '../../src/plan/document.ts'

function parse(text: string): YamlDocument {
  const parsed = parseYaml('a.yml', text)
  if ('faults' in parsed) throw new Error(JSON.stringify(parsed.faults))
  return parsed.document
}

const TEXT = `# comment
a: &anchor
  b: 1.10
  c:
    - x
    - { d: 2,
        e: 3 }
f: *anchor
g:
200: h
`

it.each<[readonly (string | number)[], number]>([
  [[], 1],
  [['a'], 2],
  [['a', 'b'], 3],
  [['a', 'c'], 4],
  [['a', 'c', 0], 5],
  [['a', 'c', 1, 'e'], 7],
  // The list has no such item, and the mapping no such key: what holds them.
  [['a', 'c', 9], 4],
  [['a', 'nope', 'deeper'], 2],
  // Through an alias, where the value stands.
  [['f', 'b'], 3],
  [['g'], 9],
  [['200'], 10],
])('finds the line of %j', (path, line) => {
  expect(parse(TEXT).lineOf(path)).toBe(line)
})

it('gives scalars as they are written', () => {
  const document = parse(TEXT)
  expect(document.value).toMatchObject({ a: { b: 1.1 } })
  expect(document.textOf(['a', 'b'])).toBe('1.10')
  expect(document.textOf(['f', 'b'])).toBe('1.10')
  expect(document.textOf(['a', 'c'])).toBeUndefined()
})

it('stops counting aliases early', () => {
  const text = `a: &a 1\nb: [${Array(101).fill('*a').join(', ')}]`
  expect(parseYaml('a.yml', text)).toEqual({
    faults: [{ place: 'a.yml', line: 2, message: 'a file holds at most 100 aliases' }],
  })
})

it('refuses a key that would be a prototype', () => {
  expect(parseYaml('a.yml', 'env:\n  __proto__: 1')).toEqual({
    faults: [{ place: 'a.yml', line: 2, message: 'key __proto__ is not allowed' }],
  })
})
