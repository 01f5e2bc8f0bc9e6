/** JSON with amounts of money: they are read and written digit by digit, never as a double. */
import { jsonBrl, parseBrl, type ExactNumber } from './money.ts'

/** The names that payment processors use for amounts. Their numbers keep the digits as received. */
const AMOUNT_NAMES = new Set(['value', 'netValue', 'originalValue', 'interestValue'])
const NANO_PER_CENT = 10_000_000n

/** Parses JSON and keeps the digits of amounts. Throws a `SyntaxError` when the text is not JSON. */
export function parseExactJson(text: string): unknown {
  const revive = (name: string, value: unknown, context: { source?: string }) =>
    typeof value === 'number' && AMOUNT_NAMES.has(name) ? context.source : value
  // TypeScript does not know the third argument yet; every supported Node.js passes it.
  return JSON.parse(text, revive as (name: string, value: unknown) => unknown)
}

/** Returns the centavos of an amount in reais; undefined unless it is a whole, non-negative number of them. */
export function readCents(value: unknown): bigint | undefined {
  const nano = typeof value === 'string' ? parseBrl(value) : undefined
  return nano === undefined || nano % NANO_PER_CENT !== 0n ? undefined : nano / NANO_PER_CENT
}

/** Returns centavos as a JSON number of reais. */
export function jsonCents(cents: bigint): ExactNumber {
  return jsonBrl(cents * NANO_PER_CENT)
}
