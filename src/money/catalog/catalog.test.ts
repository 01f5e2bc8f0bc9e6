import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withPriceIds } from '../../../test/harness/with-price-ids.ts'
import { createCatalog, type CatalogChanges } from './catalog.ts'
import { sandboxModels } from './sandbox-catalog.ts'

const MODELS = withPriceIds(sandboxModels)
const ID = 'sandbox-chat'
const T0 = Date.parse('2026-11-21T12:00:00Z')

function clocked(changes: Partial<CatalogChanges>) {
  const clock = { ms: T0 }
  const catalog = createCatalog(MODELS, () => clock.ms)
  catalog.applyChanges({
    markups: [],
    prices: [],
    discovered: [],
    disabledIds: new Set(),
    isPaused: false,
    ...changes,
  })
  const markupAt = (ms: number): bigint | undefined => {
    clock.ms = ms
    return catalog.findModel(ID)?.markupE4
  }
  return { catalog, markupAt }
}

const start = (afterMs: number, markupE4: bigint, modelId = ID) => ({
  modelId,
  markupE4,
  startsAt: new Date(T0 + afterMs),
})

test('a markup is in force from its very millisecond on, by the clock alone, and no earlier', () => {
  const markups = [start(-5_000, 20_000n), start(1_000, 15_000n), start(2_000, 30_000n)]
  const { markupAt } = clocked({ markups })
  assert.equal(markupAt(T0), 20_000n)
  assert.equal(markupAt(T0 + 999), 20_000n)
  assert.equal(markupAt(T0 + 1_000), 15_000n)
  assert.equal(markupAt(T0 + 1_999), 15_000n)
  assert.equal(markupAt(T0 + 2_000), 30_000n)
  assert.equal(markupAt(T0 + 1e12), 30_000n)
})

test('the next change with a date is known before it starts, with its price and markup', () => {
  const [model] = MODELS
  assert.ok(model)
  const { price } = model
  const expensive = {
    ...price,
    tiers: price.tiers.map((tier) => ({ ...tier, output: 9n })),
  } as never
  const clock = { ms: T0 }
  const night = { fromSecond: 0, untilSecond: 3_600 }
  const priceSchedule = [
    { price },
    { price, window: night },
    { price: expensive, startsAt: new Date(T0 + 2_000) },
  ] as const
  const catalog = createCatalog([{ ...model, priceSchedule }], () => clock.ms)
  const markups = [start(-1, 11_000n, model.id), start(1_000, 20_000n, model.id)]
  catalog.applyChanges({
    markups,
    prices: [],
    discovered: [],
    disabledIds: new Set(),
    isPaused: false,
  })
  const planned = () => {
    const found = catalog.findPlanned(model.id)
    return found && [found.startsAt.getTime() - T0, found.model.markupE4, found.model.price]
  }
  assert.deepEqual(planned(), [1_000, 20_000n, price])
  clock.ms = T0 + 1_000
  assert.deepEqual(planned(), [2_000, 20_000n, expensive])
  clock.ms = T0 + 2_000
  assert.equal(planned(), undefined)
  assert.equal(catalog.findPlanned('nenhum'), undefined)
})

test('if several changes start between two lookups, the last one applies', () => {
  const { markupAt } = clocked({
    markups: [start(1, 11_000n), start(2, 12_000n), start(3, 13_000n)],
  })
  assert.equal(markupAt(T0 + 10), 13_000n)
})

test('the list has the markups in force; other models, prices and routes keep their object identity', () => {
  const { catalog, markupAt } = clocked({
    markups: [start(1_000, 11_000n), start(0, 1n, 'nenhum')],
  })
  markupAt(T0 + 1_000)
  for (const [place, model] of catalog.listModels().entries()) {
    const own = MODELS[place]
    assert.equal(model.id, own?.id)
    assert.equal(model.markupE4, model.id === ID ? 11_000n : own?.markupE4)
    // The router finds the state of a route by its object.
    assert.equal(model.price, own?.price)
    assert.equal(model.routes, own?.routes)
  }
  assert.deepEqual(catalog.listConfigured(), MODELS)
})

test('a disabled model is listed without routes, also after a change of its markup, until it is enabled', () => {
  const { catalog, markupAt } = clocked({
    markups: [start(1_000, 11_000n)],
    disabledIds: new Set([ID]),
  })
  assert.deepEqual(catalog.findModel(ID)?.routes, [])
  assert.equal(markupAt(T0 + 1_000), 11_000n)
  assert.deepEqual(catalog.findModel(ID)?.routes, [])
  assert.equal(catalog.listModels().length, MODELS.length)
  catalog.applyChanges({
    markups: [],
    prices: [],
    discovered: [],
    disabledIds: new Set(),
    isPaused: false,
  })
  assert.ok((catalog.findModel(ID)?.routes.length ?? 0) > 0)
})
