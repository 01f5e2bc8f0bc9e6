export const JUMP_PERCENT_MAX = 20n

/** Whether the rate differs so much from the other that it is probably a slip. Both times 10^4. */
export function isFarFrom(rateE4: bigint, otherE4: bigint): boolean {
  const jump = rateE4 > otherE4 ? rateE4 - otherE4 : otherE4 - rateE4
  return jump * 100n > otherE4 * JUMP_PERCENT_MAX
}
