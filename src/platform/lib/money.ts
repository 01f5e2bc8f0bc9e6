/**
 * Units of money, and the one formula that turns a cost into a charge.
 *
 * - a price is a whole number of micro-USD per million tokens, so that one token costs a whole number of
 *   pico-USD (1e-12 USD);
 * - `cost_upstream` is in pico-USD;
 * - balances, holds and charges are in nano-BRL (1e-9 BRL);
 * - the exchange rate (BRL per USD) and the markup multiplier are whole numbers times 10^4.
 *
 * All of them are `bigint`: floating point never touches money, not even in JSON, where amounts are written
 * digit by digit.
 */
declare global {
  interface JSON {
    /** In every supported Node.js; not yet in TypeScript's own declarations. */
    rawJSON(text: string): ExactNumber
  }
}

export type NanoBrl = bigint
export type PicoUsd = bigint

/** The nano-BRL in one BRL. */
export const NANO_PER_BRL = 1_000_000_000n
/** The exchange rate and the markup carry four decimals. */
export const RATE_SCALE = 10_000n

/** pico-USD x (rate x 10^4) x (markup x 10^4) is pico-BRL x 10^8; nano-BRL is that over 10^11. */
const CHARGE_DIVISOR = RATE_SCALE * RATE_SCALE * 1_000n

export interface Conversion {
  /** BRL per USD, times 10^4. */
  readonly fxRateE4: bigint
  /** The model's markup multiplier, times 10^4. */
  readonly markupE4: bigint
}

/**
 * Returns `cost_billed_brl = cost_upstream_usd x fx_rate x markup_multiplier`, rounded half up, once, to the nano-BRL.
 * The cost must not be negative.
 */
export function chargeFor(costPicoUsd: PicoUsd, conversion: Conversion): NanoBrl {
  const product = costPicoUsd * conversion.fxRateE4 * conversion.markupE4
  return (product + CHARGE_DIVISOR / 2n) / CHARGE_DIVISOR
}

/**
 * Returns the amount in USD that counts against the customer's USD budgets: the cost with the markup, rounded half up.
 */
export function billedPicoUsd(costPicoUsd: PicoUsd, markupE4: bigint): PicoUsd {
  return (costPicoUsd * markupE4 + RATE_SCALE / 2n) / RATE_SCALE
}

/** Writes BRL exactly, without trailing zeros or exponent: `1234500000n` -> `"1.2345"`. */
export function decimalBrl(nano: NanoBrl): string {
  return decimal(nano, 9)
}

/** Writes pico-USD as a decimal string of USD. */
export function decimalUsd(pico: PicoUsd): string {
  return decimal(pico, 12)
}

/** A number scaled by 10^4 (exchange rate, markup) as a decimal string. */
export function decimalE4(scaled: bigint): string {
  return decimal(scaled, 4)
}

/** A number for `JSON.stringify` that is written digit by digit, where a double could lose or gain digits. */
export interface ExactNumber {
  readonly rawJSON: string
}

/** Returns BRL as an exact JSON number. */
export function jsonBrl(nano: NanoBrl): ExactNumber {
  return JSON.rawJSON(decimalBrl(nano))
}

/** Returns USD as an exact JSON number. */
export function jsonUsd(pico: PicoUsd): ExactNumber {
  return JSON.rawJSON(decimalUsd(pico))
}

/** A rate or a markup as a JSON number. */
export function jsonE4(scaled: bigint): ExactNumber {
  return JSON.rawJSON(decimalE4(scaled))
}

/** Reads `"50"` or `"50.25"` as nano-BRL; undefined for anything else (sign, exponent, more than 9 decimals). */
export function parseBrl(text: string): NanoBrl | undefined {
  return parseDecimal(text, 9)
}

/** Reads `"12.5"` as pico-USD; undefined for anything else. */
export function parseUsd(text: string): PicoUsd | undefined {
  return parseDecimal(text, 12)
}

/** Reads `"5.2238"` as 52238n; undefined for anything else, more than four decimals included. */
export function parseE4(text: string): bigint | undefined {
  return parseDecimal(text, 4)
}

function decimal(value: bigint, scale: number): string {
  const sign = value < 0n ? '-' : ''
  const digits = (value < 0n ? -value : value).toString().padStart(scale + 1, '0')
  const fraction = digits.slice(-scale).replace(/0+$/, '')
  const whole = digits.slice(0, -scale)
  return fraction === '' ? sign + whole : `${sign}${whole}.${fraction}`
}

/**
 * Removes the zeros at the end. A pattern would take the square of the time for zeros that are not the last: customers
 * write such texts.
 */
function withoutLastZeros(digits: string): string {
  let end = digits.length
  while (digits[end - 1] === '0') end -= 1
  return digits.slice(0, end)
}

function parseDecimal(text: string, scale: number): bigint | undefined {
  const match = /^(\d{1,15})(?:\.(\d+))?$/.exec(text)
  if (!match) return undefined
  const fraction = withoutLastZeros(match[2] ?? '')
  if (fraction.length > scale) return undefined
  return BigInt(match[1] + fraction.padEnd(scale, '0'))
}
