/**
 * Reads a file with prices. It has one of two forms: the models of `catraca.config.json`, with `id`, `prices` and
 * `price_schedule` only; or a newer release of the price data, as its makers publish it (`data.json`).
 */
import { isObject } from '../../platform/lib/is-object.ts'
import { parseCatalogConfig } from './catalog-config-schema.ts'
import type { ConfiguredModel } from './model.ts'
import type { NewPrices } from './price-changes.ts'
import type { PriceData } from './price-from-data.ts'
import { readPriceSchedule } from './read-price-schedule.ts'
import { readPrices } from './read-prices.ts'

export type PriceFile =
  | { readonly kind: 'prices'; readonly prices: readonly NewPrices[] }
  | { readonly kind: 'price_data'; readonly data: PriceData }
  | { readonly kind: 'faulty'; readonly faults: readonly string[] }

const ENTRIES = new Set(['id', 'prices', 'price_schedule'])

/** Reads a file of prices, of the configuration's `models`. */
export function readPriceFile(text: string, models: readonly ConfiguredModel[]): PriceFile {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return { kind: 'faulty', faults: [(error as Error).message] }
  }
  const providers = isObject(value) ? value['providers'] : value
  if (Array.isArray(providers)) return readPriceData(providers)
  return readModels(value, models)
}

function readPriceData(providers: readonly unknown[]): PriceFile {
  const byProvider = new Map<unknown, readonly unknown[]>()
  for (const provider of providers) {
    if (!isObject(provider) || !Array.isArray(provider['models']))
      return { kind: 'faulty', faults: ['a provider of the price data has no "models"'] }
    byProvider.set(provider['id'], provider['models'])
  }
  const data: PriceData = {
    findPrices(provider, model) {
      const found = byProvider.get(provider)?.find((each) => isObject(each) && each['id'] === model)
      const prices = isObject(found) ? found['prices'] : undefined
      // Each amount is read as a decimal number, and refused otherwise (`price-from-data.ts`).
      return isObject(prices) || Array.isArray(prices) ? (prices as never) : undefined
    },
  }
  return { kind: 'price_data', data }
}

function readModels(value: unknown, models: readonly ConfiguredModel[]): PriceFile {
  const { config, faults } = parseCatalogConfig(value)
  const prices: NewPrices[] = []
  for (const { id, ...entry } of config?.models ?? []) {
    const model = models.find((each) => each.id === id)
    const others = Object.keys(entry).filter((name) => !ENTRIES.has(name))
    if (!model) faults.push(`model "${id}" is not in the catalog`)
    else if (others.length > 0)
      faults.push(`model "${id}": a price file has no ${others.join(', ')}`)
    else if (!entry.prices) faults.push(`model "${id}": it needs "prices"`)
    else {
      const base = [{ price: readPrices(id, model.category, entry.prices, faults) }] as const
      const added = entry.price_schedule
      prices.push({
        modelId: id,
        schedule: readPriceSchedule(id, model.category, base, added, faults),
      })
    }
  }
  if (faults.length === 0 && prices.length === 0) faults.push('there are no models in the file')
  return faults.length > 0 ? { kind: 'faulty', faults } : { kind: 'prices', prices }
}
