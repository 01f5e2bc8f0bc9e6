import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import pg from 'pg'
import { dumpSchema } from '../../src/platform/db/dump-schema.ts'
import { connectionConfig } from '../../src/platform/db/open.ts'
import { createTestDatabase } from '../harness/test-database.ts'

test('src/platform/db/schema.sql is the schema that the migrations and the function files create', async () => {
  const database = await createTestDatabase()
  const client = new pg.Client(connectionConfig(database.databaseUrl))
  try {
    await client.connect()
    const written = await readFile(
      new URL('../../src/platform/db/schema.sql', import.meta.url),
      'utf8',
    )
    assert.equal(
      await dumpSchema(client),
      written,
      'src/platform/db/schema.sql is stale: run `npm run db:schema` and commit it',
    )
  } finally {
    await client.end()
    await database.drop()
  }
})
