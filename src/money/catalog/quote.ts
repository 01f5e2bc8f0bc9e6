/** Quotes the most that a call can cost at the current prices, exchange rate and markup. Pure. */
import {
  billedPicoUsd,
  chargeFor,
  RATE_SCALE,
  type Conversion,
  type NanoBrl,
  type PicoUsd,
} from '../../platform/lib/money.ts'
import { costCeilingOf, highestPrices } from './cost-ceiling.ts'
import type { Price, PriceTerms, UnitCounts } from './prices.ts'

export interface QuoteInput<P extends PriceTerms = Price> {
  /** The prices of all routes that may answer; at least one. The highest ceiling bounds the call. */
  readonly prices: readonly P[]
  readonly conversion: Conversion
  readonly promptTokensMax: number
  /** For one choice. */
  readonly outputTokensMax: number
  readonly choices: number
  /** Units billed beside text tokens, for all choices together. */
  readonly unitsMax?: UnitCounts | undefined
  /** False if the prompt is written to no cache. */
  readonly writesCache?: boolean | undefined
}

export interface Quote<P extends PriceTerms = Price> extends QuoteInput<P> {
  /** The price with the highest ceiling for this call. */
  readonly price: P
  /** The amount to hold; at least one nano-BRL. */
  readonly ceilingNanoBrl: NanoBrl
  /** The same ceiling in USD, including the markup; API key budgets are checked against it. */
  readonly ceilingPicoUsd: PicoUsd
}

export function quote<P extends PriceTerms>(input: QuoteInput<P>): Quote<P> {
  const { outputTokensMax, choices } = input
  let price = input.prices[0] as P
  let cost = 0n
  for (const each of input.prices) {
    const ceiling = costCeilingOf(each, input, outputTokensMax * choices)
    if (ceiling > cost) {
      cost = ceiling
      price = each
    }
  }
  const ceiling = chargeFor(cost, input.conversion)
  return {
    ...input,
    price,
    ceilingNanoBrl: ceiling > 0n ? ceiling : 1n,
    ceilingPicoUsd: billedPicoUsd(cost, input.conversion.markupE4),
  }
}

/**
 * The most output tokens per choice whose ceiling is within both limits; 0 if not even one fits. An undefined limit
 * does not apply.
 */
export function outputTokensThatFit(
  input: QuoteInput<PriceTerms>,
  limits: { nanoBrl?: NanoBrl | undefined; billedPicoUsd?: PicoUsd | undefined },
): number {
  const { fxRateE4, markupE4 } = input.conversion
  const costs: bigint[] = []
  // Rounding half up lets a charge of x nano-BRL cost up to x + 1/2; staying at or below x is safe.
  if (limits.nanoBrl !== undefined) {
    costs.push((limits.nanoBrl * RATE_SCALE * RATE_SCALE * 1_000n) / (fxRateE4 * markupE4))
  }
  if (limits.billedPicoUsd !== undefined) costs.push((limits.billedPicoUsd * RATE_SCALE) / markupE4)
  let fits = BigInt(input.outputTokensMax)
  for (const price of input.prices) {
    const { output } = highestPrices(price, input)
    const besides = costCeilingOf(price, input, 0)
    for (const cost of costs) {
      const left = cost - besides
      if (left < 0n) return 0
      const tokens = output === 0n ? fits : left / (output * BigInt(input.choices))
      if (tokens < fits) fits = tokens
    }
  }
  return Number(fits)
}
