/**
 * The price of a model, and the cost of an amount of usage. Pure; no floating point. The settlement charges
 * by it; the most that a call can cost is in `cost-ceiling.ts`.
 */
import type { PicoUsd } from '../lib/money.ts'

/**
 * Prices of one tier, in micro-USD per million tokens, which is pico-USD per token.
 * Every kind is always present: where a provider has no price of its own for a kind, the catalog
 * stores the price that kind is billed at (cached and cache-write input as input, reasoning as output).
 */
export interface TokenPrices {
  readonly input: bigint
  readonly cachedInput: bigint
  /** To keep it for the shortest time that the provider sells. */
  readonly cacheWrite: bigint
  readonly output: bigint
  readonly reasoning: bigint
}

/** Prices that hold for the whole request once its prompt has more than `abovePromptTokens` tokens. */
export interface PriceTier extends TokenPrices {
  readonly abovePromptTokens: number
}

/**
 * What is billed beside text tokens, by name: `audio_seconds`, tokens of another kind
 * (`input_audio_tokens`, `input_image_tokens`, `output_image_tokens`), images (`images`, or by size and
 * quality: see `image-unit.ts`). A unit is whole; text tokens do not include what a unit counts, save
 * for the one that is a surcharge: see `hour-cache.ts`.
 */
export type UnitPrices = Readonly<Record<string, PicoUsd>>
export type UnitCounts = Readonly<Record<string, number>>

/** The amounts of a price, as a configuration or the price data has them. */
export interface PriceTerms {
  /** One at least; the first has `abovePromptTokens` 0; ascending. */
  readonly tiers: readonly PriceTier[]
  /** Pico-USD of one unit. Absent where only text tokens are billed. */
  readonly units?: UnitPrices
}

/** A stored price. It never changes, so whatever names its id can be computed again. */
export interface Price extends PriceTerms {
  readonly id: number
}

/**
 * Tokens of one answer. `promptTokens` is the whole prompt, cached and cache-written tokens included;
 * `completionTokens` is the whole output, reasoning included.
 */
export interface TokenCounts {
  readonly promptTokens: number
  readonly cachedTokens: number
  readonly cacheWriteTokens: number
  readonly completionTokens: number
  readonly reasoningTokens: number
}

/** All that an answer is billed by. */
export interface UsageCounts extends TokenCounts {
  readonly units?: UnitCounts
}

/** The exact upstream cost of this usage. Throws where a unit has no price: nothing is for free. */
export function costOf(price: PriceTerms, usage: UsageCounts): PicoUsd {
  return costOfTokens(price, usage) + costOfUnits(price, usage.units)
}

function costOfTokens(price: PriceTerms, tokens: TokenCounts): PicoUsd {
  const tier = tierFor(price, tokens.promptTokens)
  const plainInput = tokens.promptTokens - tokens.cachedTokens - tokens.cacheWriteTokens
  const plainOutput = tokens.completionTokens - tokens.reasoningTokens
  return (
    BigInt(plainInput) * tier.input +
    BigInt(tokens.cachedTokens) * tier.cachedInput +
    BigInt(tokens.cacheWriteTokens) * tier.cacheWrite +
    BigInt(plainOutput) * tier.output +
    BigInt(tokens.reasoningTokens) * tier.reasoning
  )
}

/** Throws where a unit has no price. */
export function costOfUnits(price: PriceTerms, units: UnitCounts | undefined): PicoUsd {
  let cost = 0n
  for (const unit in units) {
    const each = price.units?.[unit]
    if (each === undefined) throw new Error(`the unit "${unit}" has no price`)
    cost += BigInt(units[unit] as number) * each
  }
  return cost
}

function tierFor(price: PriceTerms, promptTokens: number): PriceTier {
  let found = price.tiers[0] as PriceTier
  for (const tier of price.tiers) if (promptTokens > tier.abovePromptTokens) found = tier
  return found
}
