import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { pruneRateWindows } from '../../src/money/ledger/prune-tasks.ts'
import { createTestDatabase, type TestDatabase } from '../harness/test-database.ts'

let database: TestDatabase

before(async () => {
  database = await createTestDatabase()
})
after(() => database.drop())

test('windows of past hours go, in several statements; those of now and those in use stay', async () => {
  const { db } = database
  await sql`
    insert into rate_windows (subject, window_at, requests, tokens)
    select 'i:' || n, now() - interval '2 hours', 1, 0 from generate_series(1, 2500) n
    union all select 'k:now', date_trunc('minute', now()), 7, 0`.execute(db)
  await db.transaction().execute(async (trx) => {
    await sql`select 1 from rate_windows where subject = 'i:1' for update`.execute(trx)
    assert.equal(await pruneRateWindows(db), 2_499, 'a locked one is skipped, not waited for')
  })
  const left = await db.selectFrom('rate_windows').select('subject').orderBy('subject').execute()
  assert.deepEqual(left, [{ subject: 'i:1' }, { subject: 'k:now' }])
  assert.equal(await pruneRateWindows(db), 1)
})
