/** What the spending of an account costs that has very many sessions or keys, or very long sessions. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { createApiKey } from '../../src/customers/api-keys.ts'
import { inTransaction, type Database } from '../../src/platform/db/open.ts'
import { GROUPS_MAX, SESSION_REQUESTS_MAX, sumSpend } from '../../src/money/usage/sum-spend.ts'
import { seedUsage, type SeededUse } from '../harness/seed-usage.ts'
import { createTestDatabase, seedCustomer, type TestDatabase } from '../harness/test-database.ts'

const NEWER = 60_000
const PERIOD = { from: '2026-03-01', to: '2026-03-31', step: 'day' } as const

let database: TestDatabase
let customerId: string

before(async () => {
  database = await createTestDatabase()
  const { db } = database
  const seeded = await seedCustomer(db, { balanceBrl: '1000' })
  customerId = seeded.customerId
  const use = (at: string, sessionId: string, billed: bigint): SeededUse => ({
    at: new Date(at),
    sessionId,
    billed,
    modelId: 'm',
    promptTokens: 1,
    completionTokens: 1,
  })
  await seedUsage(db, {
    customerId,
    apiKeyId: seeded.key.id,
    events: [
      use('2026-03-02T12:00:00Z', 'of the period', 3n),
      use('2026-02-02T12:00:00Z', 'before it', 100n),
      use('2026-03-10T12:00:00Z', 'just after it too', 5n),
      use('2026-04-01T12:00:00Z', 'just after it too', 100n),
      use('2026-03-11T12:00:00Z', 'until now', 7n),
      use(new Date().toISOString(), 'until now', 100n),
      use('2026-03-12T12:00:00Z', 'very long', 11n),
    ],
  })
  await sql`
    insert into usage_sessions (customer_id, session_id, requests, prompt_tokens, completion_tokens,
      cost_billed_nano_brl, model_ids, first_request_at, last_request_at)
    select ${customerId}, 'newer ' || place, 1, 1, 1, 1000, '{m}', at, at
    from (select place, '2026-05-01'::timestamptz + make_interval(mins => place) as at
      from generate_series(1, ${NEWER}::int) place) made`.execute(db)
  await sql`
    update usage_sessions set requests = ${SESSION_REQUESTS_MAX + 1}
    where customer_id = ${customerId} and session_id = 'very long'`.execute(db)
  await sql`analyze usage_sessions`.execute(db)
})
after(() => database.drop())

test('the sessions of an old period are found without reading all newer ones, and sums are complete', async () => {
  await inTransaction(database.db, async (trx) => {
    const before = await sessionsRead(trx)
    const rows = await sumSpend(trx, { customerId, ...PERIOD }, 'session')
    assert.deepEqual(
      rows
        .filter(({ costBilledNanoBrl }) => costBilledNanoBrl > 0n)
        .map(({ day, group, costBilledNanoBrl }) => [day, group, costBilledNanoBrl]),
      [
        ['2026-03-02', 'of the period', 3n],
        ['2026-03-10', 'just after it too', 5n],
        ['2026-03-11', 'until now', 7n],
        ['2026-03-12', null, 11n],
      ],
    )
    const read = (await sessionsRead(trx)) - before
    assert.ok(read > 0 && read < NEWER / 2, `${read} sessions are read`)
  })
})

/** By this transaction, and by earlier ones of its connection that are not reported yet. */
async function sessionsRead(trx: Database): Promise<number> {
  const { rows } = await sql<{ read: string }>`
    select seq_tup_read + coalesce(idx_tup_fetch, 0) as read from pg_stat_xact_user_tables
    where relname = 'usage_sessions'`.execute(trx)
  return Number(rows[0]?.read ?? 0)
}

test('of very many keys the most expensive ones are read one by one, and the rest as one', async () => {
  const { db } = database
  const { customerId } = await seedCustomer(db, { balanceBrl: '1000' })
  const total = { listed: 0n, rest: 0n }
  const keys = GROUPS_MAX + 4
  for (let place = 1; place <= keys; place++) {
    const { key } = await createApiKey(db, { customerId, name: 'uma', requestsPerMinute: 1 })
    const events = [2, 3].map((day) => ({
      at: new Date(`2026-03-0${day}T12:00:00Z`),
      billed: BigInt(place),
      modelId: 'm',
      promptTokens: 1,
      completionTokens: 1,
    }))
    await seedUsage(db, { customerId, apiKeyId: key.id, events })
    total[place > keys - GROUPS_MAX ? 'listed' : 'rest'] += 2n * BigInt(place)
  }
  const rows = await sumSpend(db, { customerId, ...PERIOD }, 'key')
  const sum = (isOf: (group: string | null) => boolean): bigint =>
    rows.reduce((all, row) => all + (isOf(row.group) ? row.costBilledNanoBrl : 0n), 0n)
  assert.equal(rows.length, 2 * (GROUPS_MAX + 1))
  assert.equal(
    sum((group) => group !== null),
    total.listed,
  )
  assert.equal(
    sum((group) => group === null),
    total.rest,
  )
})
