/** Pages of the charges and the failed calls of a key or a model are those that reading everything would return. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from '../harness/fast-check.ts'
import { sql } from 'kysely'
import { createApiKey } from '../../src/customers/api-keys.ts'
import { inTransaction, type Database } from '../../src/platform/db/open.ts'
import { listCalls } from '../../src/money/usage/list-usage-events.ts'
import type { CallOutcome, UsageEventFilter } from '../../src/money/usage/usage-event.ts'
import { seedUsage } from '../harness/seed-usage.ts'
import { createTestDatabase, seedCustomer, type TestDatabase } from '../harness/test-database.ts'

const DAY_MS = 86_400_000
const MODELS = ['sandbox-chat', 'sandbox-embedding', 'sandbox-image']

let database: TestDatabase
let customerId: string
let keyIds: string[]

before(async () => {
  database = await createTestDatabase()
  const { db } = database
  const seeded = await seedCustomer(db, { balanceBrl: '1000' })
  customerId = seeded.customerId
  const other = await createApiKey(db, { customerId, name: 'rara', requestsPerMinute: 100 })
  keyIds = [seeded.key.id, other.key.id]
  const random = fc.sample(
    fc.record({
      daysAgo: fc.double({ min: 0, max: 40, noNaN: true }),
      model: fc.integer({ min: 0, max: 20 }),
      isRareKey: fc.integer({ min: 0, max: 15 }),
      isReleased: fc.integer({ min: 0, max: 9 }),
    }),
    { numRuns: 300, seed: 20_261_121 },
  )
  for (const keyId of keyIds) {
    await seedUsage(db, {
      customerId,
      apiKeyId: keyId,
      events: random
        .filter(({ isRareKey }) => (isRareKey === 0) === (keyId === keyIds[1]))
        .map(({ daysAgo, model, isReleased }) => ({
          at: new Date(Date.now() - daysAgo * DAY_MS),
          // The third is used once in twenty calls.
          modelId: MODELS[model === 0 ? 2 : model % 2] as string,
          promptTokens: 10,
          completionTokens: 5,
          outcome: isReleased === 0 ? ('released' as const) : ('charged' as const),
        })),
    })
  }
})
after(() => database.drop())

type Outcomes = readonly CallOutcome[]
const OUTCOMES: readonly Outcomes[] = [['charged'], ['released'], ['charged', 'released']]

async function listAll(filter: UsageEventFilter, outcomes: Outcomes): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from usage_events where customer_id = ${customerId} and outcome::text = any (${outcomes})
      and (${filter.modelId ?? null}::text is null or model_id = ${filter.modelId ?? null})
      and (${filter.apiKeyId ?? null}::uuid is null or api_key_id = ${filter.apiKeyId ?? null})
      and created_at >= ${filter.fromAt ?? '-infinity'}::timestamptz
      and created_at < ${filter.untilAt ?? 'infinity'}::timestamptz
    order by created_at desc, id desc`.execute(database.db)
  return rows.map(({ id }) => id)
}

async function listByPages(
  filter: UsageEventFilter,
  limit: number,
  outcomes: Outcomes,
): Promise<string[]> {
  const ids: string[] = []
  let place: { at: string; id: string } | undefined
  for (;;) {
    const list = { customerId, limit, filter, before: place }
    const page = await listCalls(database.db, list, outcomes)
    ids.push(...page.map(({ id }) => id))
    const last = page.at(-1)
    if (!last || page.length < limit) return ids
    place = { at: last.createdAt, id: last.id }
  }
}

async function assertPages(): Promise<void> {
  const filters: UsageEventFilter[] = []
  for (const modelId of [undefined, ...MODELS, 'none'])
    for (const apiKeyId of [undefined, ...keyIds, '00000000-0000-7000-8000-000000000000'])
      filters.push({ modelId, apiKeyId })
  const time = fc
    .double({ min: 0, max: 40, noNaN: true })
    .map((daysAgo) => new Date(Date.now() - daysAgo * DAY_MS).toISOString())
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...filters),
      fc.constantFrom(...OUTCOMES),
      fc.constantFrom(1, 3, 7, 50, 201),
      fc.option(time, { nil: undefined }),
      fc.option(time, { nil: undefined }),
      async (filter, outcomes, limit, fromAt, untilAt) => {
        const asked = { ...filter, fromAt, untilAt }
        assert.deepEqual(await listByPages(asked, limit, outcomes), await listAll(asked, outcomes))
      },
    ),
    { numRuns: 60 },
  )
}

test('pages by outcome, key and model contain every call once, before and after days are summed up', async () => {
  await assertPages()
  // The first of two months, then the rest, as the job does it.
  await sql`select roll_usage_days(${customerId})`.execute(database.db)
  await assertPages()
  await sql`select roll_usage_days(${customerId})`.execute(database.db)
  await assertPages()
})

test('the rare failed calls of a big account are found without reading its charges', async () => {
  const { db } = database
  const big = await seedCustomer(db, { balanceBrl: '1000' })
  const hourOf = (place: number): Date => new Date(Date.now() - (place + 3) * 3_600_000)
  const failed = {
    modelId: 'm',
    promptTokens: 1,
    completionTokens: 0,
    outcome: 'released',
  } as const
  await seedUsage(db, {
    customerId: big.customerId,
    apiKeyId: big.key.id,
    events: [
      ...Array.from({ length: 3_000 }, (_, place) => ({
        at: hourOf(place % 300),
        modelId: 'm',
        promptTokens: 1,
        completionTokens: 1,
      })),
      { ...failed, at: hourOf(250) },
      { ...failed, at: hourOf(299) },
    ],
  })
  // As autovacuum does, at some time or other: the plan follows the statistics.
  await sql`analyze usage_events`.execute(db)
  for (const filter of [{}, { modelId: 'm' }]) {
    const list = { customerId: big.customerId, limit: 51, filter }
    await inTransaction(db, async (trx) => {
      const before = await eventsRead(trx)
      assert.equal((await listCalls(trx, list, ['released'])).length, 2)
      const read = (await eventsRead(trx)) - before
      assert.ok(read > 0 && read < 100, `${read} events are read`)
    })
  }
})

/** By the statements of this transaction, and of earlier ones of its connection that are not reported yet. */
async function eventsRead(trx: Database): Promise<number> {
  const { rows } = await sql<{ read: string }>`
    select sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) as read from pg_stat_xact_user_tables
    where relname like 'usage\\_events%'`.execute(trx)
  return Number(rows[0]?.read)
}
