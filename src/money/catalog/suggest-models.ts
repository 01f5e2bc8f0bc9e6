/** Suggests cheaper models for a customer's usage. Pure. */
import { chargeFor, type NanoBrl } from '../../platform/lib/money.ts'
import { isHourCacheUnit } from './hour-cache.ts'
import type { Model } from './model.ts'
import { costOf, type PriceTerms } from './prices.ts'
import { sandboxModels } from './sandbox-catalog.ts'

/** The usage of one model from the roll-ups, which contain neither cached tokens nor single requests. */
export interface UsedMix {
  /** At least one. */
  readonly requests: number
  readonly promptTokens: number
  readonly completionTokens: number
  readonly costBilledNanoBrl: NanoBrl
}

export interface ModelSuggestion {
  readonly model: Model
  readonly projectedNanoBrl: NanoBrl
  /** The billed amount minus the projected one. */
  readonly savingNanoBrl: NanoBrl
}

const SUGGESTIONS_MAX = 3
/** The least saving that is suggested: one tenth of the cost (as its divisor), and one cent of a real. */
const SAVING_SHARE_MIN = 10n
const SAVING_MIN_NANO_BRL = 10_000_000n

/**
 * Returns the models that would save the most at today's prices and exchange rate; at most three. `model` is the one
 * that the customer used. Only chat models are compared: vectors of another embedding model do not fit an existing
 * index, and models count the units of images, audio and video differently.
 */
export function suggestModels(
  models: readonly Model[],
  { model, mix, fxRateE4 }: { model: Model; mix: UsedMix; fxRateE4: bigint },
): ModelSuggestion[] {
  if (model.category !== 'llm') return []
  // Costs that the tokens do not explain (audio in the prompt, a higher rate at the time) would arise with another
  // model too, so they are not savings. If caching made the usage cheaper than its tokens, only the amount that was
  // really billed can be saved.
  const ownPrices = [model.price, ...model.routes.map((route) => route.price)]
  const explained = lowest([
    mix.costBilledNanoBrl,
    ...ownPrices.map((price) => chargeForMix(model, price, mix, fxRateE4)),
  ])
  return models
    .filter((other) => canReplace(model, other))
    .map((other) => {
      const charges = other.routes.map(({ price }) => chargeForMix(other, price, mix, fxRateE4))
      const savingNanoBrl = explained - highest(charges)
      return {
        model: other,
        projectedNanoBrl: mix.costBilledNanoBrl - savingNanoBrl,
        savingNanoBrl,
      }
    })
    .filter(
      ({ savingNanoBrl }) =>
        savingNanoBrl >= SAVING_MIN_NANO_BRL &&
        savingNanoBrl * SAVING_SHARE_MIN >= mix.costBilledNanoBrl,
    )
    .sort(bySaving)
    .slice(0, SUGGESTIONS_MAX)
}

/** Whether the other model can be called now, and supports everything that this one does. */
function canReplace(model: Model, other: Model): boolean {
  return (
    other.id !== model.id &&
    other.routes.length > 0 &&
    !other.isDiscovered &&
    other.category === model.category &&
    SANDBOX_IDS.has(other.id) === SANDBOX_IDS.has(model.id) &&
    (other.supportsTools || !model.supportsTools) &&
    (other.imageTokensMax > 0 || model.imageTokensMax === 0) &&
    other.contextTokens >= model.contextTokens &&
    other.outputTokensMax >= model.outputTokensMax &&
    // A unit price, such as for audio, means that customers may send that medium. Caching is only a saving.
    Object.keys(model.price.units ?? {}).every(
      (unit) => isHourCacheUnit(unit) || other.price.units?.[unit] !== undefined,
    )
  )
}

const SANDBOX_IDS: ReadonlySet<string> = new Set(sandboxModels.map(({ id }) => id))

/** Charges every prompt token as uncached, in the tier of the average prompt. */
function chargeForMix(model: Model, price: PriceTerms, mix: UsedMix, fxRateE4: bigint): NanoBrl {
  const { requests, promptTokens, completionTokens } = mix
  const tier =
    price.tiers.findLast((each) => promptTokens > each.abovePromptTokens * requests) ??
    price.tiers[0]
  if (!tier) return 0n
  const cost = costOf(
    { tiers: [tier] },
    { promptTokens, completionTokens, cachedTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 },
  )
  return chargeFor(cost, { fxRateE4, markupE4: model.markupE4 })
}

function bySaving(left: ModelSuggestion, right: ModelSuggestion): number {
  if (left.savingNanoBrl !== right.savingNanoBrl)
    return left.savingNanoBrl > right.savingNanoBrl ? -1 : 1
  return left.model.id < right.model.id ? -1 : 1
}

function lowest(amounts: readonly bigint[]): bigint {
  return amounts.reduce((found, each) => (each < found ? each : found))
}

function highest(amounts: readonly bigint[]): bigint {
  return amounts.reduce((found, each) => (each > found ? each : found))
}
