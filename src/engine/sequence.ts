/**
 * One round of a weighted choice, as indices into `weights`: each index as often as its weight says, spread evenly
 * (smooth weighted round robin, as nginx's upstream module does it). Weights are reduced by their common divisor.
 * @param weights integers >= 1
 */
export function buildSequence(weights: readonly [number, ...number[]]): readonly [number, ...number[]] {
  const divisor = weights.reduce(greatestCommonDivisor)
  const shares = weights.map((weight) => weight / divisor)
  const total = shares.reduce((sum, share) => sum + share, 0)
  const credit = shares.map(() => 0)
  const take = (): number => {
    let best = 0
    for (const [index, share] of shares.entries()) {
      credit[index] = (credit[index] ?? 0) + share
      if ((credit[index] ?? 0) > (credit[best] ?? 0)) best = index
    }
    credit[best] = (credit[best] ?? 0) - total
    return best
  }
  const first = take()
  return [first, ...Array.from({ length: total - 1 }, take)]
}

/** Where connection `index` of `connections` starts in a sequence, so that connections do not move in step. */
export function startOffset(index: number, connections: number, length: number): number {
  return Math.floor((index * length) / connections) % length
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b)
}
