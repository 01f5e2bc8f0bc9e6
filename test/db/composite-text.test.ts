import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc, { anyCharacter } from '../harness/fast-check.ts'
import { createTestDatabase } from '../harness/test-database.ts'
import { sql } from 'kysely'
import { arrayText, compositeText } from '../../src/platform/db/composite-text.ts'

test('the database reads the fields of any text unchanged', async () => {
  const database = await createTestDatabase()
  const { db } = database
  try {
    await sql`create type pair as (t text, n int8, b bool)`.execute(db)
    // A text in PostgreSQL has no zero bytes and no lone halves of surrogate pairs.
    const text = fc
      .string({ unit: anyCharacter })
      .map((text) => text.replaceAll('\0', '').toWellFormed())
    const row = fc.tuple(
      fc.option(text),
      fc.option(fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n)),
      fc.boolean(),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 20 }), async (rows) => {
        const { rows: read } = await sql<{ t: string; n: bigint; b: boolean }>`
          select * from unnest(${arrayText(rows.map(compositeText))}::pair[])`.execute(db)
        assert.deepEqual(
          read.map(({ t, n, b }) => [t, n, b]),
          rows,
        )
      }),
      { numRuns: 300 },
    )
  } finally {
    await database.drop()
  }
})
