import { stripVTControlCharacters } from 'node:util'

/** Text from outside as Markdown that shows it literally: no markup, links, HTML, mentions, references or table cells come of it. */
export function escapeMarkdown(text: string): string {
  return (
    stripControls(text.replace(/\s*[\r\n]\s*/g, ' '))
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replace(/[\\`*_{}[\]()#+!|~$]/g, (character) => `\\${character}`)
      // GitHub looks for these in the rendered text, where a backslash is gone already; a zero-width space stays.
      .replaceAll('@', '@\u200b')
      .replace(/#(?=\d)/g, '#\u200b')
      .replace(/\bgh(?=-\d)/gi, '$&\u200b')
      .replace(/\bwww(?=\.)/gi, '$&\u200b')
      .replaceAll('://', ':\u200b//')
  )
}

/** Lines from outside as a code block whose fence none of them can close. */
export function fence(lines: readonly string[], language = 'text'): string {
  // Cleaned first: what is taken out of a line may have kept its backticks apart.
  const text = lines.map(stripControls).join('\n')
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length))
  const ticks = '`'.repeat(longest + 1)
  return [`${ticks}${language}`, ...(lines.length === 0 ? [] : [text]), ticks].join('\n')
}

/**
 * Without ANSI sequences, control characters (tab and newline stay) and changes of the writing direction, and with
 * `##[` broken up, by which a GitHub runner knows a command: a log must not steer a reader's terminal, nor a workflow.
 */
export function stripControls(text: string): string {
  return stripVTControlCharacters(text)
    .replace(/[^\P{Cc}\t\n]|[\u202a-\u202e\u2066-\u2069]/gu, '')
    .replaceAll('##[', '##\u200b[')
}
