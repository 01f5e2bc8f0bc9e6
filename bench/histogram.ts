/** Latencies in buckets that grow by 1 %, so that a percentile is accurate to about half a percent. */
const GROWTH = 1.01
const LOG_GROWTH = Math.log(GROWTH)
/** 1.01^2000 µs is more than seven minutes, longer than any request may take here. */
const BUCKETS = 2000

export interface Latencies {
  readonly p50: number
  readonly p95: number
  readonly p99: number
  readonly p999: number
  readonly max: number
}

export class Histogram {
  readonly #counts = new Uint32Array(BUCKETS)
  #total = 0
  #max = 0

  record(ms: number): void {
    const bucket = Math.floor(Math.log(Math.max(ms * 1000, 1)) / LOG_GROWTH)
    this.#counts[Math.min(bucket, BUCKETS - 1)]! += 1
    this.#total += 1
    if (ms > this.#max) this.#max = ms
  }

  /** The smallest latency that at least this share of the recorded ones do not exceed, in ms. */
  percentile(share: number): number {
    const rank = Math.max(1, Math.ceil(this.#total * share))
    let seen = 0
    for (let bucket = 0; bucket < BUCKETS; bucket += 1) {
      seen += this.#counts[bucket]!
      if (seen >= rank) return Math.min(GROWTH ** (bucket + 0.5) / 1000, this.#max)
    }
    return this.#max
  }

  /** In milliseconds, rounded to the microsecond. */
  latencies(): Latencies {
    return {
      p50: micro(this.percentile(0.5)),
      p95: micro(this.percentile(0.95)),
      p99: micro(this.percentile(0.99)),
      p999: micro(this.percentile(0.999)),
      max: micro(this.#max),
    }
  }
}

function micro(ms: number): number {
  return Math.round(ms * 1000) / 1000
}
