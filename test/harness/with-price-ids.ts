import { mapPrices } from '../../src/money/catalog/register-prices.ts'
import type { ConfiguredModel, Model } from '../../src/money/catalog/model.ts'
import type { Price, PriceTerms } from '../../src/money/catalog/prices.ts'

/** The models as if their prices were stored, without a database: prices of one text have one id. */
export function withPriceIds(models: readonly ConfiguredModel[]): Model[] {
  const ids = new Map<string, number>()
  const withId = (terms: PriceTerms): Price => {
    const text = JSON.stringify(terms, (_, value: unknown) =>
      typeof value === 'bigint' ? `${value}` : value,
    )
    const id = ids.get(text) ?? ids.size + 1
    ids.set(text, id)
    return { id, ...terms }
  }
  return models.map((model) => mapPrices(model, withId))
}
