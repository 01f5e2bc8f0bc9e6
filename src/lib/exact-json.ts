/** JSON with amounts of money in it: they are read and written digit by digit, never as a double. */
import { jsonBrl, parseBrl, type ExactNumber } from './money.ts'

/** What processors call an amount. Numbers of these names are kept as the digits that came. */
const AMOUNT_NAMES = new Set(['value', 'netValue', 'originalValue', 'interestValue'])
const NANO_PER_CENT = 10_000_000n

/** Throws a `SyntaxError` for what is no JSON. */
export function parseExactJson(text: string): unknown {
  const revive = (name: string, value: unknown, context: { source?: string }) =>
    typeof value === 'number' && AMOUNT_NAMES.has(name) ? context.source : value
  // TypeScript does not know the third argument yet; every supported Node.js passes it.
  return JSON.parse(text, revive as (name: string, value: unknown) => unknown)
}

/** Undefined for anything but a whole number of centavos that is not negative. */
export function readCents(value: unknown): bigint | undefined {
  const nano = typeof value === 'string' ? parseBrl(value) : undefined
  return nano === undefined || nano % NANO_PER_CENT !== 0n ? undefined : nano / NANO_PER_CENT
}

/** Reais, for `JSON.stringify`. */
export function jsonCents(cents: bigint): ExactNumber {
  return jsonBrl(cents * NANO_PER_CENT)
}
