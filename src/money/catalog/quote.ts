/** Quotes the most that a call can cost at the current prices, exchange rate and markup. Pure. */
import {
  billedPicoUsd,
  chargeFor,
  RATE_SCALE,
  type Conversion,
  type NanoBrl,
  type PicoUsd,
} from '../../platform/lib/money.ts'
import { type Price, type PriceTerms, type UnitCounts, costOfUnits } from './prices.ts'
import { HOUR_CACHE_UNIT, hourCacheSurchargeMax } from './hour-cache.ts'
import type { Model } from './model.ts'

/**
 * Bounds and estimates the tokens of a prompt. Every token has at least one byte, so the bytes of the prompt bound its
 * tokens for any tokenizer, without tokenizing it.
 */
export interface PromptFacts {
  /** Bytes of the request as sent to the upstream, without image data. */
  readonly bytes: number
  readonly imageCount: number
  readonly hasFiles: boolean
  /** Tools, or a schema for the answer; some models add instructions for them. */
  readonly hasTools: boolean
}

/** Some models add their own instructions before the tools. */
const TOOL_PREAMBLE_TOKENS = 1_024
/** Tokens that a chat template adds once. For each message it adds fewer tokens than the message's JSON has bytes. */
const TEMPLATE_TOKENS = 64
/** A typical image, for estimates only. */
export const IMAGE_TOKENS_TYPICAL = 1_000
const BYTES_PER_TOKEN_TYPICAL = 4

/**
 * Returns a number that is never below the true tokens of the prompt, as long as the catalog's bounds of the model are
 * correct.
 */
export function promptTokensBound(facts: PromptFacts, model: Model): number {
  if (facts.hasFiles) return model.contextTokens
  const bound =
    facts.bytes +
    facts.imageCount * model.imageTokensMax +
    (facts.hasTools ? TOOL_PREAMBLE_TOKENS : 0) +
    (model.hiddenPromptTokensMax ?? 0) +
    TEMPLATE_TOKENS
  return Math.min(bound, model.contextTokens)
}

/**
 * Estimates the tokens of a prompt without a tokenizer. The result is never above `promptTokensBound` for the same
 * facts.
 */
export function promptTokensTypical(facts: PromptFacts, model: Model): number {
  const text = Math.ceil(facts.bytes / BYTES_PER_TOKEN_TYPICAL)
  const images = facts.imageCount * Math.min(model.imageTokensMax, IMAGE_TOKENS_TYPICAL)
  return Math.min(text + images, promptTokensBound(facts, model))
}

/** The bytes of the longest tokens, of spaces, in o200k_base and cl100k_base. */
export const TOKEN_BYTES_MAX = 128

/** Returns the least number of output tokens in this many bytes of text. */
export function outputTokensLeast(bytes: number): number {
  return Math.ceil(bytes / TOKEN_BYTES_MAX)
}

/** Returns the typical number of output tokens in this many bytes of text. */
export function outputTokensTypical(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_TOKEN_TYPICAL)
}

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
 * Returns the most output tokens per choice whose ceiling is within both limits; 0 if not even one fits. An undefined
 * limit does not apply.
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

/** The most that a call can cost before its usage is known. Pure; no floating point. */
interface PromptBounds {
  readonly promptTokensMax: number
  /** False if the prompt is written to no cache. */
  readonly writesCache?: boolean | undefined
}

/**
 * Returns the most that a request with at most this usage can cost: every prompt token at the highest input price, and
 * every output token at the highest output price, of any tier that the prompt can reach.
 */
export function costCeilingOf(
  price: PriceTerms,
  bounds: PromptBounds & { readonly unitsMax?: UnitCounts | undefined },
  outputTokensMax: number,
): PicoUsd {
  const { promptTokensMax, unitsMax } = bounds
  const { input, output } = highestPrices(price, bounds)
  return (
    BigInt(promptTokensMax) * input +
    BigInt(outputTokensMax) * output +
    ceilingOfUnits(price, promptTokensMax, unitsMax)
  )
}

/** The highest price of a prompt token and of an output token, over the tiers that a prompt of this size can reach. */
function highestPrices(
  price: PriceTerms,
  { promptTokensMax, writesCache = true }: PromptBounds,
): { input: bigint; output: bigint } {
  let input = 0n
  let output = 0n
  for (const tier of price.tiers) {
    if (tier.abovePromptTokens > promptTokensMax) break
    const written = writesCache ? tier.cacheWrite : 0n
    for (const each of [tier.input, tier.cachedInput, written]) if (each > input) input = each
    for (const each of [tier.output, tier.reasoning]) if (each > output) output = each
  }
  return { input, output }
}

function ceilingOfUnits(
  price: PriceTerms,
  promptTokensMax: number,
  unitsMax: UnitCounts | undefined,
): PicoUsd {
  const writes = unitsMax?.[HOUR_CACHE_UNIT]
  if (writes === undefined) return costOfUnits(price, unitsMax)
  const { [HOUR_CACHE_UNIT]: _writes, ...others } = unitsMax as UnitCounts
  const surcharge = BigInt(writes) * hourCacheSurchargeMax(price, promptTokensMax)
  return surcharge + costOfUnits(price, others)
}
