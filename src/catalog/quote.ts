/**
 * What a call can cost at most, by the price, the rate and the markup of this moment. Pure.
 */
import {
  billedPicoUsd,
  chargeFor,
  RATE_SCALE,
  type Conversion,
  type NanoBrl,
  type PicoUsd,
} from '../lib/money.ts'
import { costCeilingOf, dearestPrices, type Price } from './prices.ts'

export interface QuoteInput {
  readonly price: Price
  readonly conversion: Conversion
  readonly promptTokensMax: number
  /** Of one choice. */
  readonly outputTokensMax: number
  readonly choices: number
}

export interface Quote extends QuoteInput {
  /** The amount to hold; at least one nano-BRL. */
  readonly ceilingNanoBrl: NanoBrl
  /** The same ceiling as billed in USD, for budgets. */
  readonly ceilingPicoUsd: PicoUsd
}

export function quote(input: QuoteInput): Quote {
  const cost = costCeilingOf(
    input.price,
    input.promptTokensMax,
    input.outputTokensMax * input.choices,
  )
  const ceiling = chargeFor(cost, input.conversion)
  return {
    ...input,
    ceilingNanoBrl: ceiling > 0n ? ceiling : 1n,
    ceilingPicoUsd: billedPicoUsd(cost, input.conversion.markupE4),
  }
}

/**
 * The most output tokens of each choice whose ceiling is within both limits; 0 where not one fits.
 * Undefined limits do not limit.
 */
export function outputTokensThatFit(
  input: QuoteInput,
  limits: { nanoBrl?: NanoBrl | undefined; billedPicoUsd?: PicoUsd | undefined },
): number {
  const { output } = dearestPrices(input.price, input.promptTokensMax)
  const promptCost = costCeilingOf(input.price, input.promptTokensMax, 0)
  const { fxRateE4, markupE4 } = input.conversion
  const costs: bigint[] = []
  // Rounding half up lets a charge of x nano-BRL cost up to x + 1/2; staying at or below x is safe.
  if (limits.nanoBrl !== undefined) {
    costs.push((limits.nanoBrl * RATE_SCALE * RATE_SCALE * 1_000n) / (fxRateE4 * markupE4))
  }
  if (limits.billedPicoUsd !== undefined) costs.push((limits.billedPicoUsd * RATE_SCALE) / markupE4)
  let fits = BigInt(input.outputTokensMax)
  for (const cost of costs) {
    const left = cost - promptCost
    if (left < 0n) return 0
    const tokens = output === 0n ? fits : left / (output * BigInt(input.choices))
    if (tokens < fits) fits = tokens
  }
  return Number(fits)
}
