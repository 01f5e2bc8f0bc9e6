import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { ConfiguredModel } from '../../src/money/catalog/model.ts'
import { plainRoute } from '../../src/money/catalog/sandbox-catalog.ts'
import type { PriceTerms } from '../../src/money/catalog/prices.ts'
import { findPrice, registerPrices } from '../../src/money/catalog/register-prices.ts'
import { testModel } from '../harness/open-test-ledger.ts'
import { createTestDatabase } from '../harness/test-database.ts'

const database = await createTestDatabase()
const { db } = database
after(() => database.drop())

function costing(output: bigint, units?: PriceTerms['units']): PriceTerms {
  const none = { input: 0n, cachedInput: 0n, cacheWrite: 0n }
  const tier = { abovePromptTokens: 0, ...none, output, reasoning: output }
  return { tiers: [tier], ...(units ? { units } : {}) }
}

function modelOf(id: string, own: PriceTerms, ...routes: PriceTerms[]): ConfiguredModel {
  const over = routes.map((price, place) => plainRoute(`upstream-${place}`, id, price))
  return { ...testModel, id, price: own, routes: over }
}

test('every price carries the id it is stored under, and equal prices of a model share one id', async () => {
  const models = [
    modelOf('a', costing(1n), costing(1n), costing(2n), costing(1n, { images: 3n })),
    modelOf('b', costing(1n)),
  ]
  const [a, b] = await registerPrices(db, models)
  assert.ok(a && b)
  const [equal, moreExpensive, withUnits] = a.routes.map((route) => route.price.id)
  assert.equal(equal, a.price.id)
  assert.equal(new Set([a.price.id, moreExpensive, withUnits, b.price.id]).size, 4)
  for (const price of [a.price, b.price, ...a.routes.map((route) => route.price)])
    assert.deepEqual(await findPrice(db, price.id), price)
  assert.equal(await findPrice(db, 0), undefined)
})

test('a later start finds the same ids, and a changed price gets another one', async () => {
  const before = await registerPrices(db, [modelOf('c', costing(5n), costing(6n))])
  assert.deepEqual(await registerPrices(db, [modelOf('c', costing(5n), costing(6n))]), before)
  const [changed] = await registerPrices(db, [modelOf('c', costing(7n), costing(6n))])
  assert.notEqual(changed?.price.id, before[0]?.price.id)
  assert.deepEqual(changed?.routes, before[0]?.routes)
  assert.deepEqual(await registerPrices(db, []), [])
})
