/** When an alert fires, for any sequence of values. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from '../harness/fast-check.ts'
import {
  decideAlert,
  type AlertReading,
  type AlertStanding,
} from '../../src/deliveries/alerts/decide-alert.ts'
import { decideLevel, type BalanceLevel } from '../../src/deliveries/alerts/warn-of-low-balance.ts'

/** Null: unknown. */
type Value = number | 'endless' | null

function firings(
  direction: 'below' | 'above',
  threshold: number,
  values: readonly { value: Value; day?: number }[],
): number[] {
  let standing: AlertStanding = { state: 'ok', firedPeriod: null }
  return values.flatMap(({ value, day }, at) => {
    const reading: AlertReading | null =
      value === null
        ? null
        : {
            valueNano: value === 'endless' ? null : BigInt(value),
            period: day === undefined ? null : `2026-01-${String(day).padStart(2, '0')}`,
          }
    const decision = decideAlert({ direction, thresholdNano: BigInt(threshold) }, standing, reading)
    standing = decision
    return decision.fires ? [at] : []
  })
}

/** Around the threshold of 100, and far from it. */
const value = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 85, max: 115 }) },
  { weight: 2, arbitrary: fc.integer({ min: -50, max: 400 }) },
  { weight: 1, arbitrary: fc.constantFrom<Value>('endless', null) },
)
const THRESHOLD = 100
const asNumber = (given: Value): number => (given === 'endless' ? Infinity : (given ?? Number.NaN))

for (const direction of ['below', 'above'] as const) {
  const isBeyond = (given: Value): boolean =>
    direction === 'below' ? asNumber(given) < 100 : asNumber(given) >= 100
  const isWellBack = (given: Value): boolean =>
    direction === 'below' ? asNumber(given) >= 110 : asNumber(given) <= 90

  test(`for any values, an alert ${direction} its threshold fires at the first crossing, and at the first after each return`, () => {
    fc.assert(
      fc.property(fc.array(value, { maxLength: 40 }), (values) => {
        // In each stretch that ends with the value well back, the first value beyond the threshold.
        const expected: number[] = []
        let start = 0
        while (start < values.length) {
          const first = values.findIndex((given, at) => at >= start && isBeyond(given))
          if (first < 0) break
          expected.push(first)
          const back = values.findIndex((given, at) => at > first && isWellBack(given))
          if (back < 0) break
          start = back
        }
        assert.deepEqual(
          firings(
            direction,
            THRESHOLD,
            values.map((given) => ({ value: given })),
          ),
          expected,
        )
      }),
      { numRuns: 1_000 },
    )
  })
}

test('for any spending, an alert fires once a day, when the threshold is reached', () => {
  const steps = fc.array(
    fc.record({ spent: fc.integer({ min: 0, max: 70 }), nextDay: fc.nat({ max: 4 }) }),
    { maxLength: 40 },
  )
  fc.assert(
    fc.property(steps, (given) => {
      let day = 1
      let total = 0
      const values = given.map(({ spent, nextDay }) => {
        if (nextDay === 0) {
          day += 1
          total = 0
        }
        total += spent
        return { value: total, day }
      })
      const expected = [...Map.groupBy(values.entries(), ([, one]) => one.day).values()].flatMap(
        (ofDay) => ofDay.find(([, one]) => one.value >= THRESHOLD)?.[0] ?? [],
      )
      assert.deepEqual(firings('above', THRESHOLD, values), expected)
    }),
    { numRuns: 1_000 },
  )
})

test('a date that goes back, as with a changed time zone, fires nothing twice', () => {
  const at = (day: number) => ({ value: 200, day })
  assert.deepEqual(firings('above', THRESHOLD, [at(5), at(4), at(5), at(6)]), [0, 3])
})

test('a balance is reported when it gets worse, and again after it has recovered', () => {
  const reported = (days: readonly (number | null)[]): string[] => {
    let level: BalanceLevel = 'ok'
    return days.flatMap((runwayDays) => {
      const next = decideLevel(level, runwayDays)
      level = next.level
      return next.isWorse ? [`${runwayDays}: ${next.level}`] : []
    })
  }
  assert.deepEqual(reported([14, 13, 14, 13, 15, 13, 16, 13]), ['13: low', '13: low'])
  assert.deepEqual(reported([13, 7, 6, 7, 6, 8, 6]), ['13: low', '6: critical', '6: critical'])
  assert.deepEqual(reported([null, 3, null, 3]), ['3: critical', '3: critical'])
  assert.deepEqual(reported([3, 10, 13, 15, 16, 13]), ['3: critical', '13: low'])
})
