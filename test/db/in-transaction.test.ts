/** Transactions that wait for each other's locks. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from 'kysely'
import { SYSTEM } from '../../src/platform/audit-log/audited.ts'
import { createApiKey } from '../../src/customers/api-keys.ts'
import { changeApiKey } from '../../src/customers/change-api-key.ts'
import { lockCustomer } from '../../src/customers/customers.ts'
import { reinstateCustomer, suspendCustomer } from '../../src/customers/suspend-customer.ts'
import { inTransaction, type Database } from '../../src/platform/db/open.ts'
import { lockAccount } from '../../src/money/ledger/entries.ts'
import { deleteAccount } from '../../src/identity/personal-data/delete-account.ts'
import { createTestDatabase, seedCustomer } from '../harness/test-database.ts'

const database = await createTestDatabase()
after(() => database.drop())
const { db } = database

/** Runs a transaction; a deadlock is not retried here. */
function once(work: (trx: Database) => Promise<unknown>): Promise<unknown> {
  return db.transaction().execute(work)
}

test('changes of keys, suspensions, reinstatements and the deletion of one account never deadlock', async () => {
  const { customerId, key } = await seedCustomer(db, { balanceBrl: '0' })
  const input = { name: 'outra', modelIds: [], requestsPerMinute: 60, customerId }
  const acts: ((trx: Database) => Promise<unknown>)[] = [
    (trx) => changeApiKey(trx, customerId, key.id, { name: 'nova', budget: null }),
    (trx) => changeApiKey(trx, customerId, key.id, { budget: { limitPicoUsd: 1n, period: 'day' } }),
    async (trx) => {
      await lockCustomer(trx, customerId)
      await createApiKey(trx, input)
    },
    async (trx) => {
      await lockAccount(trx, customerId)
      await suspendCustomer(trx, customerId, 'operator')
    },
    async (trx) => {
      await lockAccount(trx, customerId)
      await reinstateCustomer(trx, customerId)
    },
    // Rolled back, so that the other transactions go on.
    async (trx) => {
      await deleteAccount(trx, SYSTEM, { customerId, waiveBalance: true })
      await sql`do $$ begin raise exception using errcode = 'XX999'; end $$`.execute(trx)
    },
  ]
  const outcomes = await Promise.allSettled(
    Array.from({ length: 240 }, (_, turn) => once(acts[turn % acts.length] as (typeof acts)[0])),
  )
  const codes = outcomes.map((one) =>
    one.status === 'fulfilled' ? 'done' : (one.reason as { code?: string }).code,
  )
  // On a busy machine some may give up waiting, which is no deadlock.
  assert.ok(!codes.includes('40P01'), 'a deadlock')
  assert.ok(codes.includes('done') && codes.includes('XX999'), String([...new Set(codes)]))
})

test('of two transactions that deadlock, both commit, one of them at a later attempt', async () => {
  const [one, two] = await Promise.all([
    seedCustomer(db, { balanceBrl: '0' }),
    seedCustomer(db, { balanceBrl: '0' }),
  ])
  const both = Promise.withResolvers<void>()
  let begun = 0
  let attempts = 0
  const crossing = (first: string, second: string): Promise<void> =>
    inTransaction(db, async (trx) => {
      attempts++
      await lockAccount(trx, first)
      if (++begun === 2) both.resolve()
      await both.promise
      await lockAccount(trx, second)
    })
  await Promise.all([
    crossing(one.customerId, two.customerId),
    crossing(two.customerId, one.customerId),
  ])
  // On a busy machine both may be chosen to fail.
  assert.ok(attempts > 2)
})

test('a transaction whose snapshot a concurrent change overtakes commits at its second attempt', async () => {
  const { customerId } = await seedCustomer(db, { balanceBrl: '0' })
  let attempts = 0
  await inTransaction(db, async (trx) => {
    attempts += 1
    await sql`set transaction isolation level repeatable read`.execute(trx)
    await sql`select from customers where id = ${customerId}`.execute(trx)
    if (attempts === 1)
      await sql`update customers set name = 'Bia' where id = ${customerId}`.execute(db)
    await sql`select from customers where id = ${customerId} for update`.execute(trx)
  })
  assert.equal(attempts, 2)
})
