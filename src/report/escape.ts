import { stripVTControlCharacters } from 'node:util'

/** Text from outside as Markdown that shows it literally: no markup, links, HTML, mentions or table cells come of it. */
export function escapeMarkdown(text: string): string {
  return (
    text
      .replace(/\s*\r?\n\s*/g, ' ')
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      .replaceAll('>', '&gt;')
      .replace(/[\\`*_{}[\]()#+!|~$]/g, (character) => `\\${character}`)
      // A zero-width space keeps GitHub from mentioning people and linking addresses.
      .replaceAll('@', '@\u200b')
      .replace(/:\/\//g, ':\u200b//')
  )
}

/** Lines from outside as a code block whose fence none of them can close. */
export function fence(lines: readonly string[], language = 'text'): string {
  const longest = Math.max(
    2,
    ...lines.flatMap((line) => [...line.matchAll(/`+/g)].map(([run]) => run.length)),
  )
  const ticks = '`'.repeat(longest + 1)
  return [`${ticks}${language}`, ...lines.map(stripControls), ticks].join('\n')
}

/** Without ANSI sequences and control characters (tab and newline stay): a log must not steer a reader's terminal. */
export function stripControls(text: string): string {
  return stripVTControlCharacters(text).replace(/[^\P{Cc}\t\n\r]/gu, '')
}
