import {
  decodeFromCompressedBase64,
  encodeIntoCompressedBase64,
  Int32Histogram,
  JsHistogram,
} from 'hdr-histogram-js'

/** Highest latency that a histogram tells apart, in microseconds: 24 hours; more is held as this. */
export const HIGHEST_LATENCY_US = 24 * 3_600 * 1_000_000

const SIGNIFICANT_DIGITS = 3

/** Values of a histogram that it does not tell apart. */
export interface Bucket {
  /** Lowest value of the bucket, in microseconds. */
  readonly fromUs: number
  /** Lowest value of the following bucket, in microseconds. */
  readonly toUs: number
  /** Recorded values in it, at least 1. */
  readonly count: number
}

/** A distribution of latencies: whole microseconds from 1 to `HIGHEST_LATENCY_US`, each within 0.1 %. */
export class Histogram {
  readonly #hdr: JsHistogram

  constructor(hdr: JsHistogram = new Int32Histogram(1, HIGHEST_LATENCY_US, SIGNIFICANT_DIGITS)) {
    this.#hdr = hdr
  }

  /**
   * Reads what `encode` wrote; the empty string is the empty histogram.
   * @throws Error when the text is not an HDR histogram (V2 compressed, base64).
   */
  static decode(text: string): Histogram {
    if (text === '') return new Histogram()
    const decoded = decodeFromCompressedBase64(text)
    if (!(decoded instanceof JsHistogram)) throw new Error('the histogram decoded to an unknown kind')
    return new Histogram(decoded)
  }

  /** How many values were recorded. */
  get count(): number {
    return this.#hdr.totalCount
  }

  /** Mean in microseconds, within the histogram's resolution; undefined when empty. */
  get meanUs(): number | undefined {
    return this.count === 0 ? undefined : this.#hdr.mean
  }

  /** Standard deviation of the recorded values (not of a sample), in microseconds; undefined when empty. */
  get stddevUs(): number | undefined {
    return this.count === 0 ? undefined : this.#hdr.stdDeviation
  }

  /** Highest recorded value in microseconds, rounded up to the end of its bucket; undefined when empty. */
  get maxUs(): number | undefined {
    return this.quantileUs(1)
  }

  /** Records a latency in microseconds, `count` times; less than 1 is held as 1. */
  record(valueUs: number, count = 1): void {
    const value = Math.min(Math.max(Math.round(valueUs), 1), HIGHEST_LATENCY_US)
    this.#hdr.recordValueWithCount(value, count)
  }

  /** Adds all values of another histogram to this one. */
  add(other: Histogram): void {
    this.#hdr.add(other.#hdr)
  }

  /**
   * Latency in microseconds that a share of all values does not exceed, rounded up to the end of its bucket;
   * undefined when empty.
   * @param ratio 0-1; 0.5 is the median.
   */
  quantileUs(ratio: number): number | undefined {
    return this.count === 0 ? undefined : this.#hdr.getValueAtPercentile(ratio * 100)
  }

  /** The buckets that hold something, ascending. */
  buckets(): readonly Bucket[] {
    const buckets: Bucket[] = []
    let left = this.count
    for (let index = 0; left > 0 && index < this.#hdr.countsArrayLength; index++) {
      const count = this.#hdr.getCountAtIndex(index)
      if (count === 0) continue
      const fromUs = this.#hdr.valueFromIndex(index)
      buckets.push({ fromUs, toUs: this.#hdr.nextNonEquivalentValue(fromUs), count })
      left -= count
    }
    return buckets
  }

  /** HDR histogram, V2 compressed, base64; the empty string when empty. */
  encode(): string {
    return this.count === 0 ? '' : encodeIntoCompressedBase64(this.#hdr)
  }
}
