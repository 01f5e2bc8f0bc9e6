/** The two sides of the ledger's functions, TypeScript and SQL, name the same values in the same order. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { FUNCTIONS_SCHEMA } from '../../src/platform/db/functions.ts'
import {
  ATTEMPT_FIELDS,
  CHECKPOINT_FIELDS,
  RESOLUTION_FIELDS,
  VERDICT_FIELDS,
} from '../../src/money/ledger/lane/ledger-fields.ts'
import { readVerdict } from '../../src/money/ledger/lane/run-batch.ts'
import { createTestDatabase, type TestDatabase } from '../harness/test-database.ts'

let database: TestDatabase

before(async () => {
  database = await createTestDatabase()
})

after(() => database.drop())

async function attributesOf(type: string): Promise<string[]> {
  const { rows } = await sql<{ attname: string }>`
    select attname from pg_attribute
    where attrelid = (select typrelid from pg_type
      where typname = ${type} and typnamespace = ${FUNCTIONS_SCHEMA}::regnamespace)
    order by attnum`.execute(database.db)
  return rows.map(({ attname }) => attname)
}

async function parametersOf(name: string): Promise<string[]> {
  const { rows } = await sql<{ proargnames: string[] }>`
    select proargnames from pg_proc
    where proname = ${name} and pronamespace = ${FUNCTIONS_SCHEMA}::regnamespace`.execute(
    database.db,
  )
  return (rows[0]?.proargnames ?? []).map((parameter) => parameter.replace(/^p_/, ''))
}

test('the rows of a batch have the attributes of their SQL types', async () => {
  assert.deepEqual(await attributesOf('ledger_attempt'), [...ATTEMPT_FIELDS])
  assert.deepEqual(await attributesOf('ledger_resolution'), [...RESOLUTION_FIELDS])
  assert.deepEqual(await attributesOf('ledger_checkpoint'), [...CHECKPOINT_FIELDS])
})

test('a verdict is read in the order in which it is written', async () => {
  assert.deepEqual(await parametersOf('verdict_text'), [...VERDICT_FIELDS])
  const { rows } = await sql<{ text: string }>`
    select verdict_text('short_day', 1, 2, 3, 4, 5, 6, -7, 8, 9) as text`.execute(database.db)
  assert.deepEqual(readVerdict(rows[0]?.text ?? '', 7, true), {
    kind: 'short_day',
    keySequence: 1,
    ipSequence: 2,
    balanceNanoBrl: 3n,
    heldNanoBrl: 4n,
    budgetLeftPicoUsd: 5n,
    teamLeftNanoBrl: 6n,
    cap: { leftNanoBrl: -7n, limitNanoBrl: 8n, until: new Date(9) },
    at: new Date(7),
    isDurable: true,
  })
})
