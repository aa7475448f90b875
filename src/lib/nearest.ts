import { closest, distance } from 'fastest-levenshtein'

/** The candidate that a mistyped word most likely means; absent when none is near. */
export function findNearest(word: string, candidates: readonly string[]): string | undefined {
  if (candidates.length === 0) return undefined
  const lower = word.toLowerCase()
  const swapped = candidates.find((candidate) => lettersOf(candidate) === lettersOf(lower))
  if (swapped !== undefined) return swapped
  const nearest = closest(lower, candidates)
  const allowed = Math.max(1, Math.floor(Math.max(lower.length, nearest.length) / 3))
  return distance(lower, nearest) <= allowed ? nearest : undefined
}

/** The same for words whose letters only changed places, which is two edits to Levenshtein: `prot` and `port`. */
function lettersOf(word: string): string {
  return [...word].sort().join('')
}
