import { expect, test } from 'vitest'
import { lastLines } from '../../src/lib/exec.ts'

test.each([
  { text: '', count: 2, lines: [] },
  { text: 'a', count: 2, lines: ['a'] },
  { text: 'a\nb\nc\n', count: 2, lines: ['b', 'c'] },
  { text: 'a\r\nb\r\n', count: 2, lines: ['a', 'b'] },
  // Blank lines say nothing; indentation does.
  { text: '  a\n\n   \n  b\n\n', count: 2, lines: ['  a', '  b'] },
])('of $text the last $count lines are $lines', ({ text, count, lines }) => {
  expect(lastLines(text, count)).toEqual(lines)
})
