import { queryOptions } from '@tanstack/react-query'
import { ofEverybody } from '../../api/cache-owner.ts'
import { api, type Answer } from '../../api/client.ts'

type Entry = Answer<'get', '/models'>['models'][number]
export type Price = Answer<'get', '/model-prices'>['prices'][number]
export type Rate = NonNullable<Answer<'get', '/model-prices'>['fx_rate']>
export type Category = Entry['category']

export interface CatalogModel extends Entry {
  /** Undefined while no exchange rate is known. */
  readonly price: Price | undefined
}

export interface CatalogView {
  readonly rate: Rate | null
  readonly models: readonly CatalogModel[]
}

export function isInPlayground({ available, category }: CatalogModel): boolean {
  return available && (category === 'llm' || category === 'image')
}

/** Joins the models and their prices, which are two answers of the API. */
export const catalogQuery = queryOptions({
  queryKey: ['catalog'],
  queryFn: async ({ signal }): Promise<CatalogView> => {
    const [{ models }, { fx_rate, prices }] = await Promise.all([
      api.get('/models', { signal }),
      api.get('/model-prices', { signal }),
    ])
    const byId = new Map(prices.map((price) => [price.model_id, price]))
    return {
      rate: fx_rate,
      models: models.map((model) => ({ ...model, price: byId.get(model.id) })),
    }
  },
  ...ofEverybody,
  staleTime: 60_000,
})
