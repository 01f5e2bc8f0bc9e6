import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../../../test/harness/fast-check.ts'
import {
  assertPlausible,
  isBelievable,
  packagedData,
  PublishedDataFault,
  readPublishedData,
} from './published-prices.ts'
import { scheduleFromData } from './price-from-data.ts'
import { nextAdded, priceDataOf } from './stored-price-data.ts'

const ACCEPTANCE = { addsNew: true, isSold: () => false, second: [] }
const PRICES = { input_mtok: 1, output_mtok: 4 }
const MODEL = { id: 'gpt-99', match: { equals: 'gpt-99' }, context_window: 400_000, prices: PRICES }

function dataOf(...models: object[]): object[] {
  return [{ id: 'openai', name: 'OpenAI', api_pattern: 'x', models }]
}

function read(value: unknown) {
  return readPublishedData(JSON.stringify(value))
}

function isRefused(json: string): boolean {
  try {
    readPublishedData(json)
    return false
  } catch (error) {
    assert.ok(error instanceof PublishedDataFault, String(error))
    assert.ok(error.message.length < 400)
    return true
  }
}

test('the data of the package is of the pinned form, and is plausible beside itself', () => {
  const packaged = packagedData()
  const data = read(packaged)
  assert.deepEqual(
    data.map(({ models }) => models.length),
    packaged.map(({ models }) => models.length),
  )
  assertPlausible(data, packaged)
})

test('data with anything unknown in it is refused as a whole', () => {
  assert.ok(!isRefused(JSON.stringify(dataOf(MODEL))))
  const wrong: unknown[] = [
    null,
    {},
    [],
    'x',
    dataOf({ ...MODEL, currency: 'EUR' }),
    dataOf({ ...MODEL, prices: { ...PRICES, input_mtok: -1 } }),
    dataOf({ ...MODEL, prices: { ...PRICES, output_mtok: '4' } }),
    dataOf({ ...MODEL, prices: { ...PRICES, output_mtok: null } }),
    dataOf({ ...MODEL, prices: { ...PRICES, output_mtok: 1e9 } }),
    dataOf({
      ...MODEL,
      prices: { ...PRICES, input_mtok: { base: 1, tiers: [{ start: -1, price: 1 }] } },
    }),
    dataOf({ ...MODEL, prices: [] }),
    dataOf({ ...MODEL, prices: [{ constraint: { valid_until: '2027-01-01' }, prices: PRICES }] }),
    dataOf({ ...MODEL, prices: [{ constraint: { start_date: 'soon' }, prices: PRICES }] }),
    dataOf({ ...MODEL, id: 'g'.repeat(10_000) }),
    dataOf({ ...MODEL, id: 'gpt\u0000-99' }),
    dataOf({ ...MODEL, context_window: 0 }),
    dataOf({ ...MODEL, context_window: 1e9 }),
    dataOf(MODEL, MODEL),
    [...dataOf(MODEL), ...dataOf(MODEL)],
    dataOf(...Array.from({ length: 100_000 }, (_, index) => ({ ...MODEL, id: `gpt-${index}` }))),
  ]
  for (const value of wrong)
    assert.ok(isRefused(JSON.stringify(value)), JSON.stringify(value).slice(0, 200))
  for (const json of [
    '',
    '{',
    JSON.stringify(dataOf(MODEL)).replace('4', 'NaN'),
    '['.repeat(10_000),
  ])
    assert.ok(isRefused(json), json.slice(0, 100))
  // A number that no float holds is not finite.
  assert.ok(isRefused(JSON.stringify(dataOf(MODEL)).replace(':4}', ':1e999}')))
  // A key of the prototype is an own key in JSON.
  assert.ok(isRefused('[{"id":"openai","__proto__":{},"models":[]}]'))
  assert.ok(
    isRefused('[{"id":"openai","models":[{"id":"x","match":{},"prices":{"__proto__":1}}]}]'),
  )
})

test('any JSON is refused, or has only prices that can be billed or are not sold', () => {
  const amount = fc.oneof(
    fc.double({ noNaN: true }),
    fc.constantFrom(0, -0, 1e-300, 5e-324, 1e21, 0.1, 4),
  )
  const tiered = fc.record({
    base: amount,
    tiers: fc.array(fc.record({ start: fc.integer(), price: amount }), { maxLength: 3 }),
  })
  const key = fc.constantFrom('input_mtok', 'output_mtok', 'cache_read_mtok', '__proto__', 'x')
  const prices = fc.dictionary(key, fc.oneof(amount, tiered, fc.jsonValue()))
  const id = fc.oneof(
    fc.constantFrom('__proto__', 'constructor', 'toString', 'gpt-99'),
    fc.string(),
  )
  const match = fc.oneof(
    fc.jsonValue(),
    id.map((equals) => ({ equals })),
  )
  const model = fc.record({ id, match, context_window: fc.integer(), prices })
  const data = fc.array(
    fc.record({ id: fc.constantFrom('openai', '__proto__'), models: fc.array(model) }),
  )
  fc.assert(
    fc.property(fc.oneof(data, fc.jsonValue()), (value) => {
      const json = JSON.stringify(value)
      if (isRefused(json)) return
      const published = readPublishedData(json)
      const added = nextAdded(published, [], ACCEPTANCE)
      for (const { id: provider, models } of added)
        for (const { id: name, context_window = Infinity } of models) {
          assert.ok(context_window >= 8_192)
          const schedule = scheduleFromData({ provider, model: name }, 1e6, priceDataOf({ added }))
          for (const { price } of schedule)
            for (const { input, output } of price.tiers) assert.ok(input > 0n && output > 0n)
        }
    }),
  )
})

test('a slip is not plausible: ten times another price, no output price, a third of the models changed', () => {
  const packaged = packagedData()
  const withPrices = (ids: readonly string[], change: (prices: any) => object) =>
    packaged.map((provider) => ({
      ...provider,
      models: provider.models.map((model) =>
        ids.includes(model.id) ? { ...model, prices: change(model.prices) as never } : model,
      ),
    }))
  const times = (factor: number) => (prices: any) => ({
    ...prices,
    input_mtok: prices.input_mtok * factor,
  })
  assertPlausible(withPrices(['gpt-4o-mini'], times(9)), packaged)
  for (const factor of [11, 1 / 11, 0])
    assert.throws(
      () => assertPlausible(withPrices(['gpt-4o-mini'], times(factor)), packaged),
      /gpt-4o-mini.* more than 10 times/,
    )
  const withoutOutput = ({ input_mtok }: any) => ({ input_mtok })
  assert.throws(() => assertPlausible(withPrices(['gpt-4o-mini'], withoutOutput), packaged), /10/)
  // The release of the package that corrects a slip of the data ends the refusals.
  const slip = withPrices(['gpt-4o-mini'], times(20))
  assertPlausible(packaged, slip)
  const ids = packaged.flatMap(({ models }) => models.map(({ id }) => id))
  const half = new Set(ids.slice(0, ids.length / 2))
  const without = packaged.map((each) => ({
    ...each,
    models: each.models.filter(({ id }) => !half.has(id)),
  }))
  assert.throws(() => assertPlausible(without, packaged), /change or vanish/)
  assert.throws(() => assertPlausible([], packaged), /change or vanish/)
})

test('no pattern of the data is run but whole names and versions of a name', () => {
  const match = {
    or: [
      { equals: 'gpt-99' },
      { regex: '^gpt-99\\.5-\\d{4}-\\d{2}-\\d{2}$' },
      { regex: '(a+)+$' },
      { contains: 'gpt' },
      { and: [{ equals: 'gpt-4o' }] },
      { equals: 'with\nline' },
    ],
  }
  const [openai] = read(dataOf({ ...MODEL, match }))
  assert.deepEqual(openai?.models[0]?.match, {
    or: [{ equals: 'gpt-99' }, { starts_with: 'gpt-99.5' }],
  })
})

test('a new model comes by itself at no less than the cheapest one of its provider in the package', () => {
  const cheapest = { input_mtok: 0.029, output_mtok: 0.14, cache_read_mtok: 0.005 }
  const isAdded = (id: string, prices: object, added: ReturnType<typeof read> = []) => {
    const published = [{ id, models: [{ ...MODEL, prices: prices as never }] }]
    const next = nextAdded(published, added, ACCEPTANCE)
    return next.some(({ models }) => models.some((model) => model.prices === prices))
  }
  assert.ok(isAdded('openai', cheapest))
  assert.ok(!isAdded('nobody', PRICES))
  for (const prices of [
    { ...cheapest, input_mtok: 0.028 },
    { ...cheapest, output_mtok: 0.139 },
    { ...cheapest, cache_read_mtok: 0 },
    [
      { prices: PRICES },
      { constraint: { start_date: '2030-01-01' }, prices: { ...PRICES, output_mtok: 0.01 } },
    ],
  ]) {
    assert.ok(!isAdded('openai', prices), JSON.stringify(prices))
    // Nor does one that was added before, and that nobody could buy since then.
    assert.ok(!isAdded('openai', prices, read(dataOf(MODEL))), JSON.stringify(prices))
  }
})

test('a new model at next to nothing, or with hardly a context, is not believed', () => {
  const is = (more: object) => isBelievable({ ...MODEL, ...more })
  assert.ok(is({}))
  for (const more of [
    { prices: { input_mtok: 0, output_mtok: 0 } },
    { prices: { input_mtok: 1e-9, output_mtok: 4 } },
    { prices: { input_mtok: 1 } },
    { prices: {} },
    { context_window: 1 },
  ])
    assert.ok(!is(more), JSON.stringify(more))
})
