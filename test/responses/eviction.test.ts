/** An account keeps its newest responses: the oldest make room, under concurrency too, for the same work at any number. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import type { Database } from '../../src/platform/db/open.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import {
  STORED_BYTES_MAX,
  STORED_RESPONSES_MAX,
  storeResponse,
  type SealedResponse,
} from '../../src/customers/stored-responses/store-response.ts'
import { createTestDatabase, seedCustomer, type TestDatabase } from '../harness/test-database.ts'

let database: TestDatabase
before(async () => {
  database = await createTestDatabase()
})
after(() => database.drop())

interface Account {
  readonly customerId: string
  readonly keyId: string
}

async function openAccount(): Promise<Account> {
  const { customerId, key } = await seedCustomer(database.db, { balanceBrl: '0' })
  await sql`update customers set stored_responses_days = 30 where id = ${customerId}`.execute(
    database.db,
  )
  return { customerId, keyId: key.id }
}

/** Its contents are a byte each, whatever `bytes` says. */
function responseOf(account: Account, bytes: number): SealedResponse {
  const content = { sealed: Buffer.alloc(1) }
  return {
    ...account,
    id: createId(),
    previousId: null,
    isFailed: false,
    input: { ...content, bytes: bytes - 1 },
    response: { ...content, bytes: 1 },
  }
}

async function store(account: Account, bytes: number, db: Database = database.db): Promise<string> {
  const response = responseOf(account, bytes)
  assert.ok(await storeResponse(db, response))
  return response.id
}

/** As if so many of so many bytes had been stored before, one after another. */
async function fill({ customerId, keyId }: Account, count: number, bytes: number): Promise<void> {
  const { db } = database
  await sql`
    insert into stored_response_sums (customer_id, responses, bytes)
    values (${customerId}, ${count}, ${count * bytes})`.execute(db)
  await sql`
    insert into stored_responses (id, customer_id, api_key_id, is_failed, input_bytes, response_bytes, input_sealed,
      response_sealed, place, bytes_before)
    select gen_random_uuid(), ${customerId}, ${keyId}, false, ${bytes}::int4 - 1, 1, '\\x00', '\\x00', n,
      (n - 1) * ${bytes}::int8
    from generate_series(1, ${count}::int8) n`.execute(db)
}

interface Kept {
  readonly id: string
  readonly place: bigint
  readonly bytes: bigint
}

async function kept({ customerId }: Account): Promise<Kept[]> {
  const { rows } = await sql<Kept>`
    select id, place, input_bytes::int8 + response_bytes as bytes from stored_responses
    where customer_id = ${customerId} order by place`.execute(database.db)
  return rows
}

test('responses that are stored at once: the newest stay, as many as an account may have', async () => {
  const account = await openAccount()
  await fill(account, STORED_RESPONSES_MAX - 5, 2)
  const stored = await Promise.all(Array.from({ length: 40 }, () => store(account, 2)))
  const all = await kept(account)
  assert.equal(all.length, STORED_RESPONSES_MAX)
  // One after another without a gap, to the last one.
  assert.equal(all.at(-1)?.place, BigInt(STORED_RESPONSES_MAX + 35))
  assert.equal(all[0]?.place, 36n)
  const ids = new Set(all.map(({ id }) => id))
  for (const id of stored) assert.ok(ids.has(id))
})

test('responses that are stored at once: the newest stay, as many bytes as an account may have', async () => {
  const account = await openAccount()
  const bytes = 1024 * 1024
  await fill(account, 256, bytes)
  const stored = await Promise.all(Array.from({ length: 20 }, () => store(account, 3 * bytes)))
  const all = await kept(account)
  const sum = all.reduce((total, each) => total + each.bytes, 0n)
  assert.equal(sum, BigInt(STORED_BYTES_MAX))
  const ids = new Set(all.map(({ id }) => id))
  for (const id of stored) assert.ok(ids.has(id))
  assert.equal(all[0]?.place, 61n)
})

test('a large response makes room for itself in the place of many small ones', async () => {
  const account = await openAccount()
  await fill(account, STORED_RESPONSES_MAX, STORED_BYTES_MAX / 16_384)
  const id = await store(account, 8 * 1024 * 1024)
  const all = await kept(account)
  assert.equal(all.at(-1)?.id, id)
  const sum = all.reduce((total, each) => total + each.bytes, 0n)
  assert.ok(sum <= BigInt(STORED_BYTES_MAX), `${sum}`)
})

test('a response that is deleted makes room when its time had come: what is newer stays', async () => {
  const account = await openAccount()
  const first = await store(account, 10)
  const second = await store(account, 10)
  await sql`delete from stored_responses where id = ${second}`.execute(database.db)
  const third = await store(account, 10)
  assert.deepEqual(
    (await kept(account)).map(({ id }) => id),
    [first, third],
  )
})

/** Of stored responses, by this connection. */
async function rowsRead(db: Database): Promise<number> {
  const { rows } = await sql<{ read: bigint }>`
    select seq_tup_read + idx_tup_fetch as read from pg_stat_xact_user_tables
    where relname = 'stored_responses'`.execute(db)
  return Number(rows[0]?.read)
}

test('storing reads the same few rows, whatever else the account has', async () => {
  const account = await openAccount()
  await fill(account, STORED_RESPONSES_MAX, 2)
  await sql`analyze stored_responses`.execute(database.db)
  await store(account, 2)
  const read = await database.db.transaction().execute(async (trx) => {
    // The connection may not have handed on yet what earlier transactions of it read.
    const before = await rowsRead(trx)
    for (let turn = 0; turn < 10; turn += 1) await store(account, 2, trx)
    return (await rowsRead(trx)) - before
  })
  assert.ok(read < 200, `${read} rows`)
})

test('an account that stores no longer gets nothing stored', async () => {
  const account = await openAccount()
  const { customerId } = account
  await sql`update customers set stored_responses_days = null where id = ${customerId}`.execute(
    database.db,
  )
  assert.equal(await storeResponse(database.db, responseOf(account, 2)), false)
  assert.deepEqual(await kept(account), [])
})
