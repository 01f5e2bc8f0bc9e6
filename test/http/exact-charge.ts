/**
 * The specification's pricing rule, computed again in fractions of whole numbers, without the product's own
 * arithmetic, so that neither can hide a fault of the other.
 */
import type { ReportedTokens } from '../../src/gateway/providers/contract.ts'

/** USD per million tokens, as written in a configuration. */
export interface TokenPricesUsd {
  readonly input: string
  readonly cached_input: string
  readonly cache_write: string
  readonly output: string
  readonly reasoning: string
}

interface Fraction {
  readonly top: bigint
  readonly bottom: bigint
}

const BRL_DIGITS = 9

/** BRL as written in an answer: rounded half up once, to nine digits, without trailing zeros. */
export function exactBilledBrl(
  prices: TokenPricesUsd,
  tokens: ReportedTokens,
  { fxRate, markup }: { fxRate: string; markup: string },
): string {
  const billed = times(times(costUsd(prices, tokens), fractionOf(fxRate)), fractionOf(markup))
  return decimalOf(billed, BRL_DIGITS)
}

/** The upstream's charge in USD; twelve digits hold it without rounding. */
export function exactCostUsd(prices: TokenPricesUsd, tokens: ReportedTokens): string {
  return decimalOf(costUsd(prices, tokens), 12)
}

/** The difference or the sum of decimal amounts. */
export function sumOf(...amounts: readonly string[]): string {
  return decimalOf(amounts.map(fractionOf).reduce(plus, { top: 0n, bottom: 1n }), BRL_DIGITS)
}

function costUsd(prices: TokenPricesUsd, tokens: ReportedTokens): Fraction {
  const { promptTokens, cachedTokens, cacheWriteTokens, completionTokens, reasoningTokens } = tokens
  const parts: readonly (readonly [count: number, usdPerMillion: string])[] = [
    [promptTokens - cachedTokens - cacheWriteTokens, prices.input],
    [cachedTokens, prices.cached_input],
    [cacheWriteTokens, prices.cache_write],
    [completionTokens - reasoningTokens, prices.output],
    [reasoningTokens, prices.reasoning],
  ]
  return parts
    .map(([count, usd]) => times({ top: BigInt(count), bottom: 1_000_000n }, fractionOf(usd)))
    .reduce(plus)
}

function fractionOf(text: string): Fraction {
  const [whole = '', rest = ''] = text.split('.')
  return { top: BigInt(whole + rest), bottom: 10n ** BigInt(rest.length) }
}

function times(left: Fraction, right: Fraction): Fraction {
  return { top: left.top * right.top, bottom: left.bottom * right.bottom }
}

function plus(left: Fraction, right: Fraction): Fraction {
  return {
    top: left.top * right.bottom + right.top * left.bottom,
    bottom: left.bottom * right.bottom,
  }
}

/** Not for amounts below zero. */
function decimalOf({ top, bottom }: Fraction, digits: number): string {
  const scale = 10n ** BigInt(digits)
  const rounded = (2n * top * scale + bottom) / (2n * bottom)
  const text = rounded.toString().padStart(digits + 1, '0')
  const rest = text.slice(-digits).replace(/0+$/, '')
  return text.slice(0, -digits) + (rest === '' ? '' : `.${rest}`)
}
