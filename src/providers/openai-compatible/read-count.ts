/** No answer has this many tokens: a larger number is garbage and counts as unknown usage. */
export const TOKENS_MAX = 1_000_000_000

/** A number of tokens; undefined where it is missing or not to be believed. */
export function readCount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= TOKENS_MAX
    ? value
    : undefined
}
