/** Which other models could do a customer's work for less. Pure. */
import { chargeFor, type NanoBrl } from '../lib/money.ts'
import { isHourCacheUnit } from './hour-cache.ts'
import type { Model } from './model.ts'
import { costOf, type PriceTerms } from './prices.ts'
import { sandboxModels } from './sandbox-catalog.ts'

/** What was used of one model, as the roll-ups know it: nothing of caches, nor of single requests. */
export interface UsedMix {
  /** One at least. */
  readonly requests: number
  readonly promptTokens: number
  readonly completionTokens: number
  readonly costBilledNanoBrl: NanoBrl
}

export interface ModelSuggestion {
  readonly model: Model
  readonly projectedNanoBrl: NanoBrl
  /** What was billed less what is projected. */
  readonly savingNanoBrl: NanoBrl
}

const SUGGESTIONS_MAX = 3
/** Less is not worth a change: one tenth of the cost, and one cent. */
const SAVING_SHARE_MIN = 10n
const SAVING_MIN_NANO_BRL = 10_000_000n

/**
 * The models that would save the most, at today's prices and rate; three at most. `model` is what the
 * customer used. Only chat models are compared: vectors of another embedding model do not fit an index
 * that is there, and images, sound and video are billed by units that models count each in their own way.
 */
export function suggestModels(
  models: readonly Model[],
  { model, mix, fxRateE4 }: { model: Model; mix: UsedMix; fxRateE4: bigint },
): ModelSuggestion[] {
  if (model.category !== 'llm') return []
  // What the tokens do not explain (sound in the prompt, a rate that was higher then) would be paid at
  // another model too: nothing is saved of it. And where caches made it cheaper than the tokens say, only
  // what was really billed can be saved.
  const ownPrices = [model.price, ...model.routes.map((route) => route.price)]
  const explained = least([
    mix.costBilledNanoBrl,
    ...ownPrices.map((price) => chargeForMix(model, price, mix, fxRateE4)),
  ])
  return models
    .filter((other) => canReplace(model, other))
    .map((other) => {
      const charges = other.routes.map(({ price }) => chargeForMix(other, price, mix, fxRateE4))
      const savingNanoBrl = explained - dearest(charges)
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

/** Whether the other can be called now, and takes and gives all that this one does. */
function canReplace(model: Model, other: Model): boolean {
  return (
    other.id !== model.id &&
    other.routes.length > 0 &&
    other.category === model.category &&
    SANDBOX_IDS.has(other.id) === SANDBOX_IDS.has(model.id) &&
    (other.supportsTools || !model.supportsTools) &&
    (other.imageTokensMax > 0 || model.imageTokensMax === 0) &&
    other.contextTokens >= model.contextTokens &&
    other.outputTokensMax >= model.outputTokensMax &&
    // What has a price of its own can be sent: sound. A cache is a saving, not something that is sent.
    Object.keys(model.price.units ?? {}).every(
      (unit) => isHourCacheUnit(unit) || other.price.units?.[unit] !== undefined,
    )
  )
}

const SANDBOX_IDS: ReadonlySet<string> = new Set(sandboxModels.map(({ id }) => id))

/** Every prompt token as one that no cache holds; by the tier that the average prompt is in. */
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

function least(amounts: readonly bigint[]): bigint {
  return amounts.reduce((found, each) => (each < found ? each : found))
}

function dearest(amounts: readonly bigint[]): bigint {
  return amounts.reduce((found, each) => (each > found ? each : found))
}
