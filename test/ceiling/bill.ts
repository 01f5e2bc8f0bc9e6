/** What a provider puts on its bill for one call, by the prices of `model-truth.ts`. Written apart from `src/catalog`. */
import type { ModelTruth, TrueTier } from './model-truth.ts'

export interface Counts {
  /** All of the prompt. */
  promptTokens: number
  /** Of these: read from a cache, written to one for five minutes or for an hour, sound. They do not overlap. */
  cachedTokens: number
  cacheWrite5m: number
  cacheWrite1h: number
  audioTokens: number
  /** All of the output; of these, thoughts, and tokens of images. */
  completionTokens: number
  reasoningTokens: number
  imageOutputTokens: number
  /** Images by the piece, and sound by the second. */
  megapixels: number
  audioSeconds: number
  /** Half for the flexible tier, double for the prior one. */
  factor: number
  /** What else the fields of the request cost: searches, other people's models. Pico-USD. */
  extras: number
}

export interface Bill extends Counts {
  readonly model: ModelTruth
  readonly costPicoUsd: bigint
  /** Fields of the request that are not on the list, with their places. */
  readonly unknown: readonly string[]
}

export function counts(given: Partial<Counts>): Counts {
  return {
    promptTokens: 0,
    cachedTokens: 0,
    cacheWrite5m: 0,
    cacheWrite1h: 0,
    audioTokens: 0,
    completionTokens: 0,
    reasoningTokens: 0,
    imageOutputTokens: 0,
    megapixels: 0,
    audioSeconds: 0,
    factor: 1,
    extras: 0,
    ...given,
  }
}

export function costOf(model: ModelTruth, of: Counts): bigint {
  const tier = tierOf(model, of.promptTokens)
  const big = BigInt
  const plainInput =
    of.promptTokens - of.cachedTokens - of.cacheWrite5m - of.cacheWrite1h - of.audioTokens
  const write5m = tier.cacheWrite5m ?? tier.input
  const tokens =
    big(plainInput) * big(tier.input) +
    big(of.cachedTokens) * big(tier.cachedInput ?? tier.input) +
    big(of.cacheWrite5m) * big(write5m) +
    big(of.cacheWrite1h) * big(tier.cacheWrite1h ?? write5m) +
    big(of.audioTokens) * big(model.audioInput ?? tier.input) +
    big(of.completionTokens - of.reasoningTokens - of.imageOutputTokens) * big(tier.output) +
    big(of.reasoningTokens) * big(tier.reasoning ?? tier.output) +
    big(of.imageOutputTokens) * big(model.imageOutput ?? tier.output)
  const hour = big(model.audioHour ?? 0) * 1_000_000n
  const units =
    big(Math.round(of.megapixels * (model.megapixel ?? 0))) +
    big(of.audioSeconds) * ((hour + 3_599n) / 3_600n)
  return ((tokens + units) * big(of.factor * 2)) / 2n + big(of.extras)
}

function tierOf({ tiers }: ModelTruth, promptTokens: number): TrueTier {
  let found = tiers[0]
  for (const tier of tiers) if (promptTokens > tier.above) found = tier
  return found
}

/**
 * The dearest of what the bytes can be: at most `promptTokens`, since every token is at least one byte; fewer where
 * a smaller prompt falls into a dearer tier. `lay` says what of so many tokens is cached, written or sound.
 */
export function dearest(
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
