/**
 * The price of a model and what an amount of usage costs by it. Pure; no floating point.
 * Callers: the quote (what may it cost at most) and the settlement (what did it cost).
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
  readonly cacheWrite: bigint
  readonly output: bigint
  readonly reasoning: bigint
}

/** Prices that hold for the whole request once its prompt has more than `abovePromptTokens` tokens. */
export interface PriceTier extends TokenPrices {
  readonly abovePromptTokens: number
}

/** One tier at least; the first has `abovePromptTokens` 0; ascending. */
export interface Price {
  readonly tiers: readonly PriceTier[]
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

/** The exact upstream cost of these tokens. */
export function costOf(price: Price, tokens: TokenCounts): PicoUsd {
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

/**
 * The most that a request of at most these tokens can cost: every prompt token at the dearest input
 * price and every output token at the dearest output price of any tier the prompt can reach.
 */
export function costCeilingOf(
  price: Price,
  promptTokensMax: number,
  outputTokensMax: number,
): PicoUsd {
  const { input, output } = dearestPrices(price, promptTokensMax)
  return BigInt(promptTokensMax) * input + BigInt(outputTokensMax) * output
}

/** The dearest price of a prompt token and of an output token that a prompt of at most this size can meet. */
export function dearestPrices(
  price: Price,
  promptTokensMax: number,
): { input: bigint; output: bigint } {
  let input = 0n
  let output = 0n
  for (const tier of price.tiers) {
    if (tier.abovePromptTokens > promptTokensMax) break
    for (const each of [tier.input, tier.cachedInput, tier.cacheWrite])
      if (each > input) input = each
    for (const each of [tier.output, tier.reasoning]) if (each > output) output = each
  }
  return { input, output }
}

function tierFor(price: Price, promptTokens: number): PriceTier {
  let found = price.tiers[0] as PriceTier
  for (const tier of price.tiers) if (promptTokens > tier.abovePromptTokens) found = tier
  return found
}
