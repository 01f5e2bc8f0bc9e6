/**
 * What a provider bills for one call, at the prices of `model-truth.ts`. Written independently of
 * `src/money/catalog`.
 */
import type { ModelTruth, TrueTier } from './model-truth.ts'

export interface Counts {
  /** All tokens of the prompt. */
  promptTokens: number
  /**
   * Parts of the prompt, which do not overlap: read from a cache, written to one for five minutes or one
   * hour, audio, images.
   */
  cachedTokens: number
  cacheWrite5m: number
  cacheWrite1h: number
  audioTokens: number
  imageInputTokens: number
  /** All tokens of the output; reasoning and image tokens are parts of it. */
  completionTokens: number
  reasoningTokens: number
  imageOutputTokens: number
  /** Images are billed by their megapixels, audio by its seconds. */
  megapixels: number
  audioSeconds: number
  /** Searches of a reranker, and characters that are spoken. */
  searchUnits: number
  characters: number
  /** Searches of the web that the provider ran. */
  searches: number
  /** 0.5 for the flex tier, 2 for the priority tier. */
  factor: number
  /** The cost of other request fields, such as searches and third-party models, in pico-USD. */
  extras: number
}

export interface Bill extends Counts {
  readonly model: ModelTruth
  readonly costPicoUsd: bigint
  /** The paths of request fields that are not on the list. */
  readonly unknown: readonly string[]
}

export function counts(given: Partial<Counts>): Counts {
  return {
    promptTokens: 0,
    cachedTokens: 0,
    cacheWrite5m: 0,
    cacheWrite1h: 0,
    audioTokens: 0,
    imageInputTokens: 0,
    completionTokens: 0,
    reasoningTokens: 0,
    imageOutputTokens: 0,
    megapixels: 0,
    audioSeconds: 0,
    searchUnits: 0,
    characters: 0,
    searches: 0,
    factor: 1,
    extras: 0,
    ...given,
  }
}

export function costOf(model: ModelTruth, of: Counts): bigint {
  const tier = tierOf(model, of.promptTokens)
  const big = BigInt
  const plainInput =
    of.promptTokens -
    of.cachedTokens -
    of.cacheWrite5m -
    of.cacheWrite1h -
    of.audioTokens -
    of.imageInputTokens
  const write5m = tier.cacheWrite5m ?? tier.input
  const tokens =
    big(plainInput) * big(tier.input) +
    big(of.cachedTokens) * big(tier.cachedInput ?? tier.input) +
    big(of.cacheWrite5m) * big(write5m) +
    big(of.cacheWrite1h) * big(tier.cacheWrite1h ?? write5m) +
    big(of.audioTokens) * big(model.audioInput ?? tier.input) +
    big(of.imageInputTokens) * big(model.imageInput ?? tier.input) +
    big(of.completionTokens - of.reasoningTokens - of.imageOutputTokens) * big(tier.output) +
    big(of.reasoningTokens) * big(tier.reasoning ?? tier.output) +
    big(of.imageOutputTokens) * big(model.imageOutput ?? tier.output)
  const hour = big(model.audioHour ?? 0) * 1_000_000n
  const units =
    big(Math.round(of.megapixels * (model.megapixel ?? 0))) +
    big(of.audioSeconds) * ((hour + 3_599n) / 3_600n) +
    big(of.searchUnits) * big(model.searchUnit ?? 0) +
    big(of.characters) * big(model.character ?? 0)
  const searches = big(of.searches) * big(model.search ?? 0)
  return ((tokens + units) * big(of.factor * 2)) / 2n + big(of.extras) + searches
}

/**
 * The same call with searches: what they found may fill the context of each round, and a provider that marks a cache writes
 * it again each time.
 */
export function withSearches(
  bill: Bill,
  searches: number,
  rounds: { readonly prompts: number; readonly outputs: number },
): Bill {
  const { model } = bill
  const promptTokens = model.context * rounds.prompts
  const of = {
    ...bill,
    promptTokens,
    cacheWrite5m: bill.cacheWrite5m > 0 ? promptTokens : 0,
    cacheWrite1h: bill.cacheWrite1h > 0 ? promptTokens : 0,
    completionTokens: bill.completionTokens * rounds.outputs,
    reasoningTokens: bill.reasoningTokens * rounds.outputs,
    searches,
  }
  return { ...of, costPicoUsd: costOf(model, of) }
}

function tierOf({ tiers }: ModelTruth, promptTokens: number): TrueTier {
  let found = tiers[0]
  for (const tier of tiers) if (promptTokens > tier.above) found = tier
  return found
}

/**
 * The highest bill that the bytes allow: at most `promptTokens`, since every token has at least one byte, and
 * fewer tokens when a smaller prompt falls into a more expensive tier. `lay` says which part of the given
 * tokens is cached, written to a cache, or audio.
 */
export function mostExpensive(
  model: ModelTruth,
  promptTokensMax: number,
  lay: (promptTokens: number) => Partial<Counts>,
): Counts {
  const most = Math.min(promptTokensMax, model.context)
  const sizes = [most, ...model.tiers.flatMap(({ above }) => [above, above + 1])]
  let best = counts({ promptTokens: most, ...lay(most) })
  for (const size of sizes) {
    if (size > most || size < 1) continue
    const each = counts({ promptTokens: size, ...lay(size) })
    if (costOf(model, each) > costOf(model, best)) best = each
  }
  return best
}
