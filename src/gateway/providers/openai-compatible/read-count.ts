/** The most tokens that an answer can have; a larger number counts as unknown usage. */
export const TOKENS_MAX = 1_000_000_000

/** A number of tokens; undefined if it is missing or implausible. */
export function readCount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= TOKENS_MAX
    ? value
    : undefined
}
