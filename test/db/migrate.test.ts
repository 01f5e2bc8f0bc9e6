import assert from 'node:assert/strict'
import { test } from 'node:test'
import { migrate } from '../../src/db/migrate.ts'
import { createTestDatabase, withClient } from '../harness/test-database.ts'

test('a database that has all migrations runs none', async () => {
  const database = await createTestDatabase()
  try {
    assert.deepEqual(await migrate(database.databaseUrl), [])
  } finally {
    await database.drop()
  }
})

test('a database from before the baseline is refused and stays as it is', async () => {
  const database = await createTestDatabase()
  try {
    await withClient(database.databaseUrl, async (client) => {
      await client.query(`update migrations set number = 31 where number = 32;
        delete from migrations where number > 32`)
      await assert.rejects(
        migrate(database.databaseUrl),
        /at migration 31, .* from migration 32 on; start the previous release once, then this one/,
      )
      const { rows } = await client.query('select number from migrations')
      assert.deepEqual(rows, [{ number: 31 }])
    })
  } finally {
    await database.drop()
  }
})
