import type { MarkupChange } from '../../money/catalog/markup-changes.ts'
import type { Model } from '../../money/catalog/model.ts'
import type { PriceTier } from '../../money/catalog/prices.ts'
import { scheduleOf, type PriceChange } from '../../money/catalog/with-price-changes.ts'
import { multiplierText, usdPerMillion } from './amounts.ts'

/** A change of a model's price, in words. */
export interface PriceEvent {
  readonly at: Date
  readonly text: string
}

/**
 * Returns the operators' changes of one model, the newest first; those that are planned have a time that has not come
 * yet.
 */
export function priceHistory(
  model: Model,
  markups: readonly MarkupChange[],
  prices: readonly PriceChange[],
): PriceEvent[] {
  const events: PriceEvent[] = markups
    .filter(({ modelId }) => modelId === model.id)
    .map(({ startsAt, markupBeforeE4, markupE4 }) => ({
      at: startsAt,
      text: `Margem de ${multiplierText(markupBeforeE4)} para ${multiplierText(markupE4)}`,
    }))
  let [before] = scheduleOf(model)[0].price.tiers
  for (const { startsAt, schedule } of prices.filter(({ modelId }) => modelId === model.id)) {
    const [after] = schedule[0].price.tiers
    if (before && after) events.push({ at: startsAt, text: describeChange(before, after) })
    before = after
  }
  return events.toSorted((one, other) => other.at.getTime() - one.at.getTime())
}

function describeChange(before: PriceTier, after: PriceTier): string {
  const changed = (
    [
      ['entrada', 'input'],
      ['entrada do cache', 'cachedInput'],
      ['saída', 'output'],
    ] as const
  )
    .filter(([, kind]) => before[kind] !== after[kind])
    .map(
      ([word, kind]) =>
        `${word} de ${usdPerMillion(before[kind])} para ${usdPerMillion(after[kind])}`,
    )
  return `Preço do fabricante: ${changed.join(', ') || 'outras unidades ou faixas'}`
}
