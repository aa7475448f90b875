import { describe, expect, test } from 'vitest'
import { escapeMarkdown, fence, stripControls } from '../../src/report/escape.ts'

const ESC = '\u001b'

describe('escapeMarkdown', () => {
  test.each([
    { name: 'pipes', text: 'a | b', escaped: String.raw`a \| b` },
    { name: 'an escaped pipe', text: String.raw`a \| b`, escaped: String.raw`a \\\| b` },
    { name: 'code', text: '`rm`', escaped: String.raw`\`rm\`` },
    { name: 'emphasis', text: '*a* _b_ ~c~', escaped: String.raw`\*a\* \_b\_ \~c\~` },
    { name: 'HTML', text: '<img src=x>', escaped: '&lt;img src=x&gt;' },
    { name: 'entities', text: '&lt;', escaped: '&amp;lt;' },
    { name: 'links', text: '[a](b)', escaped: String.raw`\[a\]\(b\)` },
    { name: 'images', text: '![a](b)', escaped: String.raw`\!\[a\]\(b\)` },
    { name: 'formulas', text: '$a$', escaped: String.raw`\$a\$` },
    { name: 'mentions', text: 'ask @octocat', escaped: 'ask @\u200boctocat' },
    { name: 'addresses', text: 'see https://example.com', escaped: 'see https:\u200b//example.com' },
    { name: 'addresses without a scheme', text: 'www.example.com', escaped: 'www\u200b.example.com' },
    { name: 'issues', text: 'fixes #12', escaped: 'fixes \\#\u200b12' },
    { name: 'issues by their other name', text: 'gh-12', escaped: 'gh\u200b-12' },
    { name: 'line breaks', text: 'a\n\n# b\r\nc', escaped: String.raw`a \# b c` },
    // Markdown takes a lone carriage return for a line's end.
    { name: 'carriage returns', text: 'a\r# b', escaped: String.raw`a \# b` },
    { name: 'colours', text: `${ESC}[31mred${ESC}[0m`, escaped: 'red' },
    { name: 'other control characters', text: 'a\u0000b\u0007c', escaped: 'abc' },
    { name: 'nothing else', text: 'p99 = 1.5 ms, "ok"; ü – 漢', escaped: 'p99 = 1.5 ms, "ok"; ü – 漢' },
  ])('takes $name literally', ({ text, escaped }) => {
    expect(escapeMarkdown(text)).toBe(escaped)
  })
})

describe('fence', () => {
  test('is of three ticks around plain lines', () => {
    expect(fence(['a', '', 'b'])).toBe('```text\na\n\nb\n```')
  })

  test.each([
    { line: '```', ticks: 4 },
    { line: 'x ````` y ``', ticks: 6 },
    { line: '~~~', ticks: 3 },
    // Ticks that only meet when the sequence between them is gone.
    { line: `\`\`${ESC}[0m\`\``, ticks: 5 },
  ])('cannot be closed by $line', ({ line, ticks }) => {
    const [first, , last] = fence([line]).split('\n')
    expect([first, last]).toEqual([`${'`'.repeat(ticks)}text`, '`'.repeat(ticks)])
  })

  test('of nothing is empty', () => {
    expect(fence([], 'mermaid')).toBe('```mermaid\n```')
  })

  test('steers no terminal', () => {
    expect(fence([`${ESC}]0;title\u0007${ESC}[2Jhello\rworld`])).toBe('```text\nhelloworld\n```')
  })
})

test.each([
  { text: `${ESC}[1;31mred${ESC}[0m`, clean: 'red' },
  { text: `${ESC}]8;;https://example.com\u0007here${ESC}]8;;\u0007`, clean: 'here' },
  { text: 'a\tb\nc', clean: 'a\tb\nc' },
  // Progress bars go back to the line's start, over what stood there.
  { text: '10 %\r20 %\r\n', clean: '10 %20 %\n' },
  { text: 'back\b\b\bspace\u009b2J', clean: 'backspace' },
])('of $text nothing steers a terminal', ({ text, clean }) => {
  expect(stripControls(text)).toBe(clean)
})
