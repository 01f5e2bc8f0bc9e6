/** The audit reads the customers in chunks, larger ones if they are quick; each customer is in one of them. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql, type KyselyPlugin } from 'kysely'
import { audit } from '../../src/money/ledger/audit/audit.ts'
import { createTestDatabase, seedCustomer, type TestDatabase } from '../harness/test-database.ts'

let database: TestDatabase

before(async () => {
  database = await createTestDatabase()
})

after(() => database.drop())

test('each customer is checked once, and the first alone', async () => {
  const { db } = database
  for (let customers = 0; customers < 8; customers++) await seedCustomer(db, { balanceBrl: '10' })
  await sql`update accounts set credited_nano_brl = credited_nano_brl + 1`.execute(db)
  const { rows } = await sql<{ id: string }>`
    select customer_id as id from accounts order by customer_id`.execute(db)
  const customers = rows.map(({ id }) => id)
  const chunks: string[][] = []
  const noteChunks: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    transformResult: async ({ result }) => {
      const found = result.rows.filter((row) => 'entries' in row && 'credited_nano_brl' in row)
      if (found.length > 0) chunks.push(found.map((row) => String(row['customer_id'])).sort())
      return result
    },
  }
  const report = await audit(db.withPlugin(noteChunks))
  assert.equal(report.ok, false)
  assert.deepEqual(chunks.flat(), customers)
  assert.deepEqual(chunks[0], customers.slice(0, 1))
})
