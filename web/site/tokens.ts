export interface Tokens {
  /** Includes those that were read from the cache. */
  readonly input: bigint
  readonly cached: bigint
  readonly output: bigint
}
