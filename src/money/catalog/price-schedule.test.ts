import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../../../test/harness/fast-check.ts'
import { withPriceIds } from '../../../test/harness/with-price-ids.ts'
import { createCatalog } from './catalog.ts'
import { loadCatalog } from './load-catalog.ts'
import { nextPriceChange, priceAt, pricesBetween, type PriceSchedule } from './price-schedule.ts'
import { chargeablePrices, chargedPrice } from './route-prices.ts'

const at = (time: string): number => Date.parse(time)
const load = (now: string, models: object[] = []) =>
  loadCatalog({
    config: { models: models as never },
    mode: 'live',
    hasUpstream: () => true,
    at: new Date(now),
  })
const inputAt = (
  id: string,
  times: readonly string[],
  models?: object[],
): (bigint | undefined)[] => {
  const clock = { ms: at(times[0] as string) }
  const { models: loaded } = load(times[0] as string, models)
  const catalog = createCatalog(withPriceIds(loaded), () => clock.ms)
  return times.map((time) => {
    clock.ms = at(time)
    return catalog.findModel(id)?.price.tiers[0]?.input
  })
}

test('a model that is cheaper at night costs its price of the hour, to the second', () => {
  const day = ['00:29:59.999', '00:30', '16:29:59.999', '16:30'].map(
    (time) => `2026-11-23T${time}Z`,
  )
  assert.deepEqual(inputAt('deepseek-reasoner', day), [135_000n, 550_000n, 550_000n, 135_000n])
  assert.deepEqual(inputAt('deepseek-chat', day), [135_000n, 270_000n, 270_000n, 135_000n])
})

test('peak hours of the V4 models are those of working days in Beijing', () => {
  const monday = ['00:59', '01:00', '03:59', '04:00', '06:00', '10:00'].map(
    (time) => `2026-11-23T${time}Z`,
  )
  const [low, high] = [660_000n, 1_320_000n]
  assert.deepEqual(inputAt('deepseek-v4-pro', monday), [low, high, high, low, high, low])
  const weekend = ['2026-11-21T02:00Z', '2026-11-22T07:00Z', '2026-11-23T02:00Z']
  assert.deepEqual(inputAt('deepseek-v4-pro', weekend), [low, low, high])
})

test('a price with a start date begins without a restart, and is not charged before', () => {
  const turn = ['2026-12-31T23:59:59.999Z', '2027-01-01T00:00:00Z']
  assert.deepEqual(inputAt('gemini-3.8-flash', turn), [750_000n, 1_500_000n])
  const prices = { input: 1, output: 2 }
  const own = {
    id: 'own',
    category: 'llm',
    prices,
    routes: [{ upstream: 'u', model: 'm' }],
    price_schedule: [
      { starts_at: '2027-03-01T12:00Z', prices: { input: 5, output: 6 } },
      { from: '22:00', until: '02:00', prices: { input: 0.5, output: 1 } },
    ],
  }
  const times = ['2027-03-01T11:59Z', '2027-03-01T12:00Z', '2027-03-01T22:00Z', '2027-03-02T02:00Z']
  assert.deepEqual(inputAt('own', times, [own]), [1_000_000n, 5_000_000n, 500_000n, 5_000_000n])
})

test('a schedule that is not in order is a fault, and starts nothing', () => {
  const faultsOf = (entry: object): string =>
    load('2026-11-23T00:00Z', [
      { id: 'gpt-4o', price_schedule: [{ prices: { input: 1, output: 1 }, ...entry }] },
    ]).faults.join('\n')
  assert.equal(faultsOf({ from: '01:00', until: '02:00' }), '')
  assert.match(faultsOf({}), /needs "starts_at", or "from" and "until"/)
  assert.match(faultsOf({ from: '01:00' }), /belong together/)
  assert.match(faultsOf({ starts_at: '2027-13-01T00:00Z' }), /is not a time/)
  const prices = { input: 1, output: 1, input_audio: 1 }
  assert.match(faultsOf({ from: '01:00', until: '02:00', prices }), /the same units/)
})

test('a hold covers every price that can apply until the call ends, and the charge is one of them', () => {
  const [model] = withPriceIds(
    load('2026-11-23T00:00Z').models.filter(({ id }) => id === 'deepseek-v4-pro'),
  )
  assert.ok(model)
  const [route] = model.routes
  assert.ok(route)
  const inputs = (from: string, until: string): (bigint | undefined)[] =>
    chargeablePrices(model, { fromMs: at(from), untilMs: at(until) }).map(
      (price) => price.tiers[0]?.input,
    )
  const [low, high] = [660_000n, 1_320_000n]
  assert.deepEqual(inputs('2026-11-23T00:40Z', '2026-11-23T00:56Z'), [low])
  assert.deepEqual(inputs('2026-11-23T00:50Z', '2026-11-23T01:06Z'), [low, high])
  assert.deepEqual(inputs('2026-11-23T03:50Z', '2026-11-23T04:06Z'), [high, low])
  assert.deepEqual(inputs('2026-11-20T09:00Z', '2026-11-22T09:00Z'), [high, low])
  const span = { fromMs: at('2026-11-23T00:40Z'), untilMs: at('2026-11-23T00:56Z') }
  const charged = (now: string) => chargedPrice(route, span, at(now)).tiers[0]?.input
  assert.equal(charged('2026-11-23T00:50Z'), low)
  assert.equal(charged('2026-11-23T02:00Z'), low, 'a clock that jumps ahead leaves the hold')
})

test('no moment of a span has a price that the hold does not cover', () => {
  const second = fc.integer({ min: 0, max: 86_399 })
  const entry = fc.record({
    startsAt: fc.option(fc.integer({ min: -3, max: 3 }), { nil: undefined }),
    from: second,
    until: second,
    days: fc.option(fc.uniqueArray(fc.integer({ min: 1, max: 7 })), { nil: undefined }),
    utcOffsetHours: fc.integer({ min: -12, max: 14 }),
  })
  const T0 = at('2026-11-23T00:00Z')
  fc.assert(
    fc.property(
      fc.array(entry, { maxLength: 3 }),
      fc.integer({ min: -200_000, max: 200_000 }),
      fc.integer({ min: 0, max: 100_000 }),
      fc.integer({ min: 0, max: 100_000 }),
      (entries, fromSecond, length, moment) => {
        const schedule: PriceSchedule<number> = [
          { price: 0 },
          ...entries.map(({ startsAt, from, until, days, utcOffsetHours }, index) => ({
            price: index + 1,
            ...(startsAt !== undefined && { startsAt: new Date(T0 + startsAt * 50_000_000) }),
            window: {
              fromSecond: from,
              untilSecond: until,
              ...(days && { weekdays: { days, utcOffsetHours } }),
            },
          })),
        ]
        const fromMs = T0 + fromSecond * 1_000
        const untilMs = fromMs + length * 1_000
        const covered = pricesBetween(schedule, fromMs, untilMs)
        const price = priceAt(schedule, Math.min(fromMs + moment * 1_000, untilMs))
        assert.ok(covered.includes(price))
        assert.ok(nextPriceChange(schedule, fromMs) > fromMs)
      },
    ),
    { numRuns: 1_000 },
  )
})
