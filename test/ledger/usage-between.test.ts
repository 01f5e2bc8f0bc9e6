/** Windows of usage are read from days, hours and events, and always give the sums of the events. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from '../harness/fast-check.ts'
import { sql } from 'kysely'
import { createCustomer } from '../../src/customers/customers.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { seedUsage, type SeededUse } from '../harness/seed-usage.ts'
import { createTestDatabase, type TestDatabase } from '../harness/test-database.ts'
import { exactTimeOf } from '../harness/known-use.ts'

let database: TestDatabase

before(async () => {
  database = await createTestDatabase()
})
after(() => database.drop())

const HOUR = 3_600_000_000n
/** More than two months: a roll-up takes one of them at a time. */
const HOURS = 24 * 70
const KEYS = [createId(), createId()]
const MODELS = ['gpt-4o', 'gone-from-the-catalog']

const beside = fc.constantFrom(0n, -1n, 1n, HOUR / 2n, HOUR / 2n - 1n, 17n * 60_000_000n + 5n)

/** Often on the boundary of an hour, and so of a day, or a microsecond beside it. */
const time = fc
  .tuple(
    fc.oneof(
      fc.integer({ min: -2, max: HOURS }),
      fc.integer({ min: 0, max: 70 }).map((days) => days * 24),
      fc.integer({ min: 0, max: 60 }).map((hours) => HOURS - hours),
    ),
    beside,
  )
  .map(([hours, micros]) => ({ hours: BigInt(hours), beside: micros }))

const use = fc.record({
  kind: fc.constant('use' as const),
  time,
  key: fc.nat(KEYS.length - 1),
  model: fc.nat(MODELS.length - 1),
  tokens: fc.nat(5_000),
  isReleased: fc.boolean(),
})
const roll = fc.constant({ kind: 'roll' as const })
/** Mostly in the hour of one of the events. */
const edge = fc.oneof(
  { weight: 5, arbitrary: fc.record({ ofUse: fc.nat(), beside }) },
  { weight: 3, arbitrary: time },
  { weight: 1, arbitrary: fc.constantFrom('-infinity' as const, 'infinity' as const) },
)
type Edge = typeof edge extends fc.Arbitrary<infer Any> ? Any : never

type Step = typeof use extends fc.Arbitrary<infer Use> ? Use | { kind: 'roll' } : never

interface SumRow {
  api_key_id: string
  model_id: string
  sums: string
}

const SUMS = [
  'prompt_tokens',
  'completion_tokens',
  'cost_upstream_pico_usd',
  'cost_billed_nano_brl',
]
const sums = sql.raw(SUMS.map((column) => `sum(${column})`).join(", ' ', "))

async function throughRollUps(customerId: string, from: string, to: string): Promise<SumRow[]> {
  const { rows } = await sql<SumRow>`
    select api_key_id, model_id, concat(sum(charged_requests), ' ', sum(released_requests), ' ', ${sums}) as sums
    from usage_between(${customerId}, ${from}, ${to}) group by 1, 2 order by 1, 2`.execute(
    database.db,
  )
  return rows
}

async function throughEvents(customerId: string, from: string, to: string): Promise<SumRow[]> {
  const { rows } = await sql<SumRow>`
    select api_key_id, model_id, concat(count(*) filter (where outcome = 'charged'), ' ',
      count(*) filter (where outcome = 'released'), ' ', ${sums}) as sums
    from usage_events where customer_id = ${customerId} and created_at >= ${from} and created_at < ${to}
    group by 1, 2 order by 1, 2`.execute(database.db)
  return rows
}

/** Events between two roll-ups are settled together. */
async function take(customerId: string, steps: readonly Step[], start: bigint): Promise<void> {
  let waiting: SeededUse[] = []
  const settle = async (): Promise<void> => {
    if (waiting.length > 0)
      await seedUsage(database.db, { customerId, apiKeyId: KEYS[0] as string, events: waiting })
    waiting = []
  }
  for (const step of steps) {
    if (step.kind === 'roll') {
      await settle()
      await sql`select roll_usage_days(${customerId})`.execute(database.db)
      continue
    }
    waiting.push({
      at: exactTimeOf(start + step.time.hours * HOUR + step.time.beside),
      modelId: MODELS[step.model] as string,
      apiKeyId: KEYS[step.key] as string,
      promptTokens: step.tokens,
      completionTokens: step.tokens % 7,
      outcome: step.isReleased ? 'released' : 'charged',
    })
  }
  await settle()
}

test('in any order of settlements and roll-ups, a window has the sums of its events', async () => {
  const steps = fc.array(fc.oneof({ weight: 5, arbitrary: use }, { weight: 1, arbitrary: roll }), {
    minLength: 1,
    maxLength: 30,
  })
  const windows = fc.array(fc.tuple(edge, edge), { minLength: 6, maxLength: 6 })
  let compared = 0
  await fc.assert(
    fc.asyncProperty(steps, windows, async (taken, asked) => {
      const customer = await createCustomer(database.db, { name: 'Teste' })
      assert.ok('id' in customer)
      // The days end with the current day, which no roll-up may take.
      const day = BigInt(Math.floor(Date.now() / 86_400_000)) * 24n * HOUR
      const start = day - BigInt(HOURS) * HOUR
      const hours = taken.flatMap((step) => (step.kind === 'use' ? [step.time.hours] : []))
      const textOf = (at: Edge): string => {
        if (typeof at === 'string') return at
        const hour = 'hours' in at ? at.hours : (hours[at.ofUse % hours.length] ?? 0n)
        return exactTimeOf(start + hour * HOUR + at.beside)
      }
      await take(customer.id, taken, start)
      for (const [from, to] of asked.map(
        ([left, right]) => [textOf(left), textOf(right)] as const,
      )) {
        const expected = await throughEvents(customer.id, from, to)
        assert.deepEqual(await throughRollUps(customer.id, from, to), expected, `${from} to ${to}`)
        compared += expected.length
      }
    }),
    { numRuns: 60 },
  )
  assert.ok(compared > 30, 'some windows had usage in them')
})

test('the first of the last days begins at midnight of the zone, even if clocks are put forward then', async () => {
  const { rows } = await sql<{ timezone: string; ok: boolean }>`
    select name as timezone, bool_and(
      first_day_start(name, days) at time zone name
        <= date_trunc('day', now() at time zone name) - make_interval(days => days - 1) + interval '1 hour'
      and (first_day_start(name, days) - interval '1 microsecond') at time zone name
        < date_trunc('day', now() at time zone name) - make_interval(days => days - 1)) as ok
    from unnest(array['America/Sao_Paulo', 'Asia/Kolkata', 'UTC', 'America/Santiago', 'Pacific/Chatham']) as name,
      generate_series(1, 365) as days
    group by 1`.execute(database.db)
  assert.deepEqual(
    rows.filter(({ ok }) => !ok),
    [],
  )
  assert.equal(rows.length, 5)
})
