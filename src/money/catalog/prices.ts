/**
 * The price of a model, and the cost of usage at that price, by which settlements charge. `cost-ceiling.ts` computes
 * the most that a call can cost. Pure; no floating point.
 */
import type { PicoUsd } from '../../platform/lib/money.ts'

/**
 * Prices of one tier, in micro-USD per million tokens, which is pico-USD per token.
 * Every kind is always present: if a provider has no separate price for a kind, the catalog stores the price at which
 * that kind is billed (cached and cache-write input as input, reasoning as output).
 */
export interface TokenPrices {
  readonly input: bigint
  readonly cachedInput: bigint
  /** A cache write with the shortest lifetime that the provider offers. */
  readonly cacheWrite: bigint
  readonly output: bigint
  readonly reasoning: bigint
}

/** Prices that apply to the whole request if its prompt has more than `abovePromptTokens` tokens. */
export interface PriceTier extends TokenPrices {
  readonly abovePromptTokens: number
}

/**
 * Prices of the units that are billed beside text tokens, by name: `audio_seconds`, other kinds of tokens
 * (`input_audio_tokens`, `output_audio_tokens`, `input_image_tokens`, `output_image_tokens`), `characters` that are spoken, images (`images`, or by size and quality: see
 * `imageUnit`), seconds of videos (`video_seconds`, or by size), searches of rerankers (`search_units`) and of the web (`web-search.ts`). Units are counted in whole numbers and not included in the text tokens, except for the surcharge of
 * one-hour cache writes (`hour-cache.ts`).
 */
export type UnitPrices = Readonly<Record<string, PicoUsd>>
export type UnitCounts = Readonly<Record<string, number>>

/** The amounts of a price from the configuration or the price data, before it is stored. */
export interface PriceTerms {
  /** At least one tier, in ascending order; the first has `abovePromptTokens` 0. */
  readonly tiers: readonly PriceTier[]
  /** Pico-USD per unit. Absent if only text tokens are billed. */
  readonly units?: UnitPrices
}

/** A stored price. It never changes, so every charge that names its id can be recomputed. */
export interface Price extends PriceTerms {
  readonly id: number
}

/**
 * The tokens of one answer. `promptTokens` is the whole prompt, cached and cache-written tokens included;
 * `completionTokens` is the whole output, reasoning included.
 */
export interface TokenCounts {
  readonly promptTokens: number
  readonly cachedTokens: number
  readonly cacheWriteTokens: number
  readonly completionTokens: number
  readonly reasoningTokens: number
}

/** The tokens and units for which an answer is billed. */
export interface UsageCounts extends TokenCounts {
  readonly units?: UnitCounts
}

/**
 * Returns the exact upstream cost of this usage. Throws if a unit has no price, so that nothing is free by accident.
 */
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

/** Returns the cost of units at this price. Throws if a unit has no price. */
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
