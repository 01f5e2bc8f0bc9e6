/** Every unit that a price of the catalog can have is written in words, by the dashboard and by the site. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadCatalog } from '../../src/money/catalog/load-catalog.ts'
import type { Model } from '../../src/money/catalog/model.ts'
import type { PricesConfig } from '../../src/money/catalog/catalog-config-schema.ts'
import { readPrices } from '../../src/money/catalog/read-prices.ts'
import { unitPrices as unitPricesOfSite } from '../../src/site/pages/model-words.ts'
import { unitPrices } from '../../web/src/pages/models/price-words.ts'
import { unitWords } from '../../web/src/pages/usage/token-words.ts'

/** Every price that an operator may configure. */
const TIERED: PricesConfig = {
  input: 1,
  cache_write_1h: 4,
  output: 2,
  tiers: [{ above_prompt_tokens: 200_000, input: 2, cache_write_1h: 8, output: 4 }],
  audio_hour: 1,
  input_audio: 1,
  input_image: 1,
  output_image: 1,
  images: { default: 1, hd: 1, '1024x1024': 1, 'hd:1024x1024': 1 },
}
const SEARCHED: PricesConfig = { input: 1, output: 2, web_search: 1 }

test('no unit of the catalog, and none that an operator can configure, shows by its identifier', () => {
  const { models } = loadCatalog({
    config: undefined,
    mode: 'sandbox',
    hasUpstream: () => true,
    at: new Date('2026-11-28T12:00:00Z'),
  })
  const prices = [
    ...models.map(({ price }) => price),
    ...[TIERED, SEARCHED].map((given) => readPrices('own', 'llm', given, [])),
  ]
  const units = new Set(prices.flatMap((price) => Object.keys(price.units ?? {})))
  assert.ok(units.has('cache_write_1h_tokens') && units.has('cache_write_1h_tokens:200000'))
  const raw = (text: string) => /_|:|^images|\d{6}/.test(text)
  for (const unit of units) {
    const price = { tiers: [], units: { [unit]: 1 } }
    const written = [
      unitWords(unit, 1),
      unitWords(unit, 2),
      ...unitPrices(price as unknown as Parameters<typeof unitPrices>[0]),
      ...unitPricesOfSite({
        price: { units: { [unit]: 1n } },
      } as unknown as Model).map(({ what }) => what),
    ]
    assert.equal(written.length, 4)
    assert.deepEqual(written.filter(raw), [], unit)
  }
})

test('a cache write of one hour is shown as the surcharge that it is', () => {
  const [text] = unitPrices({
    tiers: [],
    units: { cache_write_1h_tokens: 0.000_009_75 },
  } as unknown as Parameters<typeof unitPrices>[0])
  assert.equal(text, '+ R$\u00a09,75 por milhão de tokens gravados no cache por 1 h')
})
