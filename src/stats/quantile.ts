/** Middle of a list of numbers, mean of the middle two for an even count; undefined for an empty list. */
export function median(values: readonly number[]): number | undefined {
  return quantile(values, 0.5)
}

/**
 * Quantile by linear interpolation between order statistics (Hyndman & Fan 1996, type 7: the default of R and NumPy).
 * @param ratio 0-1
 * @returns undefined for an empty list
 */
export function quantile(values: readonly number[], ratio: number): number | undefined {
  const sorted = [...values].sort((a, b) => a - b)
  const position = (sorted.length - 1) * ratio
  const lower = sorted[Math.floor(position)]
  const upper = sorted[Math.ceil(position)]
  if (lower === undefined || upper === undefined) return undefined
  return lower + (upper - lower) * (position - Math.floor(position))
}
