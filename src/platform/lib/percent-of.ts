/**
 * Returns `part` as a percentage of `whole`, with two decimals, rounded half up; 0 when `whole` is 0. Neither may be
 * negative.
 */
export function percentOf(part: bigint, whole: bigint): number {
  if (whole === 0n) return 0
  return Number((part * 20_000n + whole) / (whole * 2n)) / 100
}
