/** A source of numbers in [0, 1). */
export type Random = () => number

/** Numbers that are the same for the same seed (32-bit unsigned): Mulberry32, by Tommy Ettinger, in the public domain. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** The items in an order that is equally likely to be any (Fisher and Yates, as in Knuth's algorithm P). */
export function shuffle<T>(items: readonly T[], random: Random): readonly T[] {
  const shuffled: T[] = []
  for (const item of items) {
    const at = Math.floor(random() * (shuffled.length + 1))
    const displaced = shuffled[at]
    if (displaced === undefined) {
      shuffled.push(item)
    } else {
      shuffled.push(displaced)
      shuffled[at] = item
    }
  }
  return shuffled
}
