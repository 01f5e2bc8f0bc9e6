/** Pages of the charges of a key or a model are those that reading everything would return. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from '../harness/fast-check.ts'
import { sql } from 'kysely'
import { createApiKey } from '../../src/customers/api-keys.ts'
import { listUsageEvents } from '../../src/usage/list-usage-events.ts'
import type { UsageEventFilter } from '../../src/usage/usage-event.ts'
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

async function listAll(filter: UsageEventFilter): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from usage_events where customer_id = ${customerId} and outcome = 'charged'
      and (${filter.modelId ?? null}::text is null or model_id = ${filter.modelId ?? null})
      and (${filter.apiKeyId ?? null}::uuid is null or api_key_id = ${filter.apiKeyId ?? null})
      and created_at >= ${filter.fromAt ?? '-infinity'}::timestamptz
      and created_at < ${filter.untilAt ?? 'infinity'}::timestamptz
    order by created_at desc, id desc`.execute(database.db)
  return rows.map(({ id }) => id)
}

async function listByPages(filter: UsageEventFilter, limit: number): Promise<string[]> {
  const ids: string[] = []
  let place: { at: string; id: string } | undefined
  for (;;) {
    const page = await listUsageEvents(database.db, { customerId, limit, filter, before: place })
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
      fc.constantFrom(1, 3, 7, 50, 201),
      fc.option(time, { nil: undefined }),
      fc.option(time, { nil: undefined }),
      async (filter, limit, fromAt, untilAt) => {
        const asked = { ...filter, fromAt, untilAt }
        assert.deepEqual(await listByPages(asked, limit), await listAll(asked))
      },
    ),
    { numRuns: 60 },
  )
}

test('pages by key and model contain every charge once, before and after days are summed up', async () => {
  await assertPages()
  // The first of two months, then the rest, as the job does it.
  await sql`select roll_usage_days(${customerId})`.execute(database.db)
  await assertPages()
  await sql`select roll_usage_days(${customerId})`.execute(database.db)
  await assertPages()
})
