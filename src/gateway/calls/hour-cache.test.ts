import assert from 'node:assert/strict'
import { test } from 'node:test'
import { effort } from '../../../test/harness/effort.ts'
import fc from '../../../test/harness/fast-check.ts'
import { withPriceIds } from '../../../test/harness/with-price-ids.ts'
import { billedUsage } from './billed-usage.ts'
import { scheduleFromData } from '../../money/catalog/price-from-data.ts'
import { builtInModels } from '../../money/catalog/built-in-models.ts'
import type { PricesConfig } from '../../money/catalog/catalog-config-schema.ts'
import { HOUR_CACHE_UNIT, hourCacheUnit } from '../../money/catalog/hour-cache.ts'
import { loadCatalog } from '../../money/catalog/load-catalog.ts'
import type { Model } from '../../money/catalog/model.ts'
import { costCeilingOf } from '../../money/catalog/quote.ts'
import { costOf, type PriceTerms } from '../../money/catalog/prices.ts'
import { readPrices } from '../../money/catalog/read-prices.ts'

const at = new Date('2026-11-21T15:00:00Z')
const models = withPriceIds(
  loadCatalog({ config: undefined, mode: 'live', hasUpstream: () => true, at }).models,
)
const modelOf = (id: string): Model => models.find((model) => model.id === id) as Model

const written = (promptTokens: number, hourCacheWriteTokens: number) => ({
  promptTokens,
  cachedTokens: 0,
  cacheWriteTokens: promptTokens,
  completionTokens: 0,
  reasoningTokens: 0,
  hourCacheWriteTokens,
})

test('a cache write costs 1.25 times the input for five minutes and twice the input for an hour', () => {
  const claude = builtInModels.filter(({ vendor }) => vendor === 'anthropic')
  assert.ok(claude.length > 5)
  for (const { id } of claude) {
    const model = modelOf(id)
    for (const promptTokens of [1_000, 200_000, 200_001, 900_000]) {
      const cost = (hour: number): bigint =>
        costOf(model.price, billedUsage(model, model.price, written(promptTokens, hour)))
      const tier = model.price.tiers.findLast(
        ({ abovePromptTokens }) => abovePromptTokens === 0 || promptTokens > abovePromptTokens,
      )
      const input = BigInt(promptTokens) * (tier?.input as bigint)
      assert.equal(cost(0) * 100n, input * 125n, id)
      assert.equal(cost(promptTokens), input * 2n, id)
    }
  }
})

test('the cost is tokens x price and units x price, the surcharge among the units', () => {
  // Longer prompts than the model takes today: the data still has their tier.
  const source = { provider: 'anthropic', model: 'claude-sonnet-4-5' }
  const [{ price }] = scheduleFromData(source, 1_000_000)
  const { units, ...tokens } = billedUsage(modelOf('claude-sonnet-4-5'), price, written(300_000, 7))
  assert.deepEqual(units, { [`${HOUR_CACHE_UNIT}:200000`]: 7 })
  const [, second] = price.tiers
  assert.equal(
    costOf(price, { ...tokens, units: units ?? {} }),
    300_000n * (second?.cacheWrite as bigint) +
      7n * (price.units?.[`${HOUR_CACHE_UNIT}:200000`] as bigint),
  )
})

test('a ceiling with one-hour cache writes is never below a cost, on both sides of every tier', () => {
  const usd = fc.integer({ min: 0, max: 40 }).map((quarters) => String(quarters / 4))
  const prices = fc
    .tuple(usd, usd, usd, usd, fc.nat({ max: 3_000 }))
    .map(([input, write, hour, highest, above]): PricesConfig => ({
      input,
      output: '1',
      cache_write: write,
      cache_write_1h: hour,
      tiers: [
        {
          above_prompt_tokens: above + 1,
          input: highest,
          output: '1',
          cache_write: highest,
          cache_write_1h: hour,
        },
      ],
    }))
  fc.assert(
    fc.property(
      prices,
      fc.nat({ max: 4_000 }),
      fc.nat({ max: 4_000 }),
      fc.nat({ max: 4_000 }),
      // Often at the bound of the tier, or beside it.
      fc.constantFrom(undefined, -1, 0, 1, 1),
      (given, some, less, hour, beside) => {
        const faults: string[] = []
        const price: PriceTerms = readPrices('own', 'llm', given, faults)
        assert.deepEqual(faults, [])
        const above = given.tiers?.[0]?.above_prompt_tokens as number
        const promptTokens = beside === undefined ? Math.max(0, some - less) : above + beside
        const most = Math.max(some, promptTokens)
        const usage = billedUsage(modelOf('claude-opus-4-5'), price, written(promptTokens, hour))
        const ceiling = costCeilingOf(
          price,
          { promptTokensMax: most, unitsMax: { [HOUR_CACHE_UNIT]: most } },
          0,
        )
        assert.ok(costOf(price, usage) <= ceiling)
      },
    ),
    { numRuns: effort({ ordinary: 20_000, full: 100_000 }) },
  )
})

test('a price without one-hour cache writes has no unit for them, and either all tiers have one or none', () => {
  const faults: string[] = []
  const plain = readPrices('own', 'llm', { input: '1', output: '1' }, faults)
  assert.equal(plain.units, undefined)
  assert.equal(hourCacheUnit(plain, 10), undefined)
  assert.deepEqual(faults, [])
  readPrices(
    'own',
    'llm',
    {
      input: '1',
      output: '1',
      cache_write_1h: '2',
      tiers: [{ above_prompt_tokens: 5, input: '1', output: '1' }],
    },
    faults,
  )
  assert.equal(faults.length, 1)
})
