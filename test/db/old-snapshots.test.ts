import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { findOldSnapshots } from '../../src/platform/db/find-old-snapshots.ts'
import { createTestDatabase, withClient, type TestDatabase } from '../harness/test-database.ts'

let database: TestDatabase
before(async () => {
  database = await createTestDatabase()
})
after(() => database.drop())

test('sessions that hold an old snapshot are listed with their name and their age, and no others', async () => {
  await withClient(database.databaseUrl, async (client) => {
    assert.deepEqual(await findOldSnapshots(database.db, 0.2), [])
    await client.query(`set application_name = 'pg_dump'`)
    await client.query('begin isolation level repeatable read')
    await client.query('select 1')
    await sleep(300)
    const [found, ...others] = await findOldSnapshots(database.db, 0.2)
    assert.deepEqual(others, [])
    assert.match(found?.holder ?? '', /^pg_dump \(pid \d+, \w+\)$/)
    assert.ok((found?.ageSeconds ?? 0) >= 0.3)
    assert.deepEqual(await findOldSnapshots(database.db), [])
    await client.query('commit')
    assert.deepEqual(await findOldSnapshots(database.db, 0.2), [])
  })
})
