import assert from 'node:assert/strict'
import { test } from 'node:test'
import { migrate } from '../../src/platform/db/migrate.ts'
import { FUNCTIONS_SCHEMA } from '../../src/platform/db/functions.ts'
import { createEmptyDatabase, createTestDatabase, withClient } from '../harness/test-database.ts'

test('a database that has all migrations runs none', async () => {
  const database = await createTestDatabase()
  try {
    assert.deepEqual(await migrate(database.databaseUrl), [])
  } finally {
    await database.drop()
  }
})

test('a database from before the baseline is refused and stays unchanged', async () => {
  const database = await createTestDatabase()
  try {
    await withClient(database.databaseUrl, async (client) => {
      await client.query(`update migrations set number = 99 where number = 100;
        delete from migrations where number > 100`)
      await assert.rejects(
        migrate(database.databaseUrl),
        /at migration 99, .* from migration 100 on; start the previous release once, then this one/,
      )
      const { rows } = await client.query('select number from migrations')
      assert.deepEqual(rows, [{ number: 99 }])
    })
  } finally {
    await database.drop()
  }
})

test('nodes that start at once on an empty database all find it migrated', async () => {
  const database = await createEmptyDatabase()
  try {
    const ran = await Promise.all(Array.from({ length: 6 }, () => migrate(database.databaseUrl)))
    assert.deepEqual(ran.flat().length, new Set(ran.flat()).size)
    assert.deepEqual(await migrate(database.databaseUrl), [])
  } finally {
    await database.drop()
  }
})

for (const [title, loss] of [
  ['a row of a set of functions without its schema', `drop schema ${FUNCTIONS_SCHEMA} cascade`],
  ['a schema of functions without its row', 'delete from function_sets'],
] as const) {
  test(`${title}, as after a partial restore, is repaired at the start`, async () => {
    const database = await createTestDatabase()
    try {
      await withClient(database.databaseUrl, async (client) => {
        const facts = async (): Promise<unknown> => {
          const { rows } = await client.query(`select
            (select count(*) from pg_proc where pronamespace = '${FUNCTIONS_SCHEMA}'::regnamespace) as functions,
            (select count(*) from pg_trigger where not tgisinternal) as triggers,
            (select array_agg(schema_name) from function_sets) as sets`)
          return rows[0]
        }
        const whole = await facts()
        await client.query(loss)
        await migrate(database.databaseUrl)
        assert.deepEqual(await facts(), whole)
      })
    } finally {
      await database.drop()
    }
  })
}
