/** Roll-ups of hours, days and sessions are always the sums of the events, whenever a call is settled. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { release } from '../../src/money/ledger/resolution.ts'
import { rollUsageDays } from '../../src/money/ledger/roll-usage-days.ts'
import type { ApiKey } from '../../src/customers/api-keys.ts'
import { createTestDatabase, seedCustomer, type TestDatabase } from '../harness/test-database.ts'
import { assertAudit } from '../harness/assert-audit.ts'
import { NANO_BRL_PER_TOKEN, openTestLedger, type TestLedger } from '../harness/open-test-ledger.ts'

let database: TestDatabase
let one: TestLedger

before(async () => {
  database = await createTestDatabase()
  one = await openTestLedger(database.db, database.databaseUrl)
})

after(async () => {
  await one.ledger.close()
  await database.drop()
})

/** A call that began so long ago and is settled now. */
async function settle(
  key: ApiKey,
  tokens: number,
  { hoursAgo = 0, sessionId = null }: { hoursAgo?: number; sessionId?: string | null } = {},
): Promise<void> {
  const attempt = one.attempt(key, tokens, { sessionId })
  assert.equal((await one.ledger.hold(attempt)).kind, 'held')
  await sql`update holds set created_at = created_at - make_interval(hours => ${hoursAgo})
    where id = ${attempt.id}`.execute(database.db)
  await one.ledger.resolve(one.charge(attempt, tokens))
}

async function usedBetween(customerId: string, from: string, to: string): Promise<bigint> {
  const { rows } = await sql<{ billed: string | null }>`
    select sum(cost_billed_nano_brl) as billed from usage_between(${customerId}, ${from}, ${to})`.execute(
    database.db,
  )
  return BigInt(rows[0]?.billed ?? 0)
}

async function countDays(customerId: string): Promise<number> {
  const rows = await database.db
    .selectFrom('usage_days')
    .select('day_at')
    .where('customer_id', '=', customerId)
    .execute()
  return rows.length
}

test('days are rolled up once they are over, and give the sums of their events', async () => {
  const { key, customerId } = await seedCustomer(database.db, { balanceBrl: '1000' })
  for (const hoursAgo of [0, 1, 24, 25, 49, 24 * 40]) await settle(key, 10, { hoursAgo })
  const before = await usedBetween(customerId, '-infinity', 'infinity')
  assert.equal(before, 60n * NANO_BRL_PER_TOKEN)
  assert.ok((await rollUsageDays(database.db)) >= 1)
  assert.ok((await countDays(customerId)) >= 3)
  assert.equal(await usedBetween(customerId, '-infinity', 'infinity'), before)
  assert.equal(await rollUsageDays(database.db), 0, 'nothing is left to sum up')
  await assertAudit(database)
})

test('a call that is settled after its day was rolled up is still counted in that day', async () => {
  const { key, customerId } = await seedCustomer(database.db, { balanceBrl: '1000' })
  await settle(key, 10, { hoursAgo: 50 })
  await rollUsageDays(database.db)
  await settle(key, 7, { hoursAgo: 50 })
  await settle(key, 5, { hoursAgo: 24 * 20 })
  assert.equal(await usedBetween(customerId, '-infinity', 'infinity'), 22n * NANO_BRL_PER_TOKEN)
  await assertAudit(database)
})

test('settlements during a roll-up of days are neither lost nor counted twice', async () => {
  const { key, customerId } = await seedCustomer(database.db, { balanceBrl: '10000' })
  const settled = Array.from({ length: 200 }, (_, index) =>
    settle(key, 1 + (index % 5), { hoursAgo: 24 + (index % 60) }),
  )
  const rolled = Array.from({ length: 20 }, async (_, index) => {
    // Starts again from the beginning each time, so that every roll-up has work.
    await new Promise((resolve) => setTimeout(resolve, index * 5))
    await database.db.transaction().execute(async (trx) => {
      await sql`select 1 from accounts where customer_id = ${customerId} for no key update`.execute(
        trx,
      )
      await sql`delete from usage_days where customer_id = ${customerId}`.execute(trx)
      await sql`update accounts set usage_days_until = '-infinity' where customer_id = ${customerId}`.execute(
        trx,
      )
      await sql`select roll_usage_days(${customerId})`.execute(trx)
    })
  })
  await Promise.all([...settled, ...rolled])
  assert.equal(await usedBetween(customerId, '-infinity', 'infinity'), 600n * NANO_BRL_PER_TOKEN)
  await assertAudit(database)
})

test('a session sums its charged calls over models and batches, and no released ones', async () => {
  const { key, customerId } = await seedCustomer(database.db, { balanceBrl: '1000' })
  const sessionId = 'sessão "1"'
  await Promise.all(Array.from({ length: 30 }, () => settle(key, 2, { sessionId })))
  await settle(key, 3, { sessionId, hoursAgo: 2 })
  const other = one.attempt(key, 5, { sessionId, modelId: 'other-model' })
  await one.ledger.hold(other)
  await one.ledger.resolve(one.charge(other, 5))
  const released = one.attempt(key, 5, { sessionId })
  await one.ledger.hold(released)
  await one.ledger.resolve(release(released, 'test'))
  const session = await database.db
    .selectFrom('usage_sessions')
    .selectAll()
    .where('customer_id', '=', customerId)
    .executeTakeFirstOrThrow()
  assert.equal(session.requests, 32n)
  assert.equal(session.completion_tokens, 68n)
  assert.equal(session.cost_billed_nano_brl, 68n * NANO_BRL_PER_TOKEN)
  assert.deepEqual(session.model_ids, ['other-model', 'test-model'])
  assert.ok(session.last_request_at.getTime() - session.first_request_at.getTime() > 3_600_000)
  await assertAudit(database)
})
