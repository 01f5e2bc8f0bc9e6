/** The last use of a key reaches the database, despite failures and the end of the process. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { createKeyUses } from '../../src/customers/key-uses.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { createLog } from '../../src/platform/lib/log.ts'
import { createTestDatabase, seedCustomer, type TestDatabase } from '../harness/test-database.ts'
import { startLocalNode } from '../harness/local-node.ts'

const NOON_MS = Date.UTC(2026, 0, 31, 12)

let database: TestDatabase

before(async () => {
  database = await createTestDatabase()
})
after(() => database.drop())

async function usedAtMs(keyId: string): Promise<number | undefined> {
  const row = await database.db
    .selectFrom('api_key_uses')
    .selectAll()
    .where('api_key_id', '=', keyId)
    .executeTakeFirst()
  return row?.last_used_at.getTime()
}

function createUses(lines: string[] = []): {
  note(keyId: string, atMs: number): void
  flush(): Promise<void>
} {
  let nowMs = 0
  const log = createLog('warn', (line) => lines.push(line))
  const uses = createKeyUses({ db: database.db, log, now: () => nowMs })
  return {
    note(keyId, atMs) {
      nowMs = atMs
      uses.note(keyId)
    },
    flush: () => uses.flush(),
  }
}

test('the last use over all nodes is kept, whichever is written last', async () => {
  const { key } = await seedCustomer(database.db, { balanceBrl: '0' })
  const [one, two] = [createUses(), createUses()]
  one.note(key.id, NOON_MS)
  one.note(key.id, NOON_MS + 2)
  two.note(key.id, NOON_MS + 1)
  await one.flush()
  await two.flush()
  assert.equal(await usedAtMs(key.id), NOON_MS + 2)
})

test('a use that could not be written is written later, and does not replace a newer one', async () => {
  const { db } = database
  const [{ key: first }, { key: second }] = [
    await seedCustomer(db, { balanceBrl: '0' }),
    await seedCustomer(db, { balanceBrl: '0' }),
  ]
  const lines: string[] = []
  const uses = createUses(lines)
  uses.note(first.id, NOON_MS)
  uses.note(second.id, NOON_MS)
  await sql`alter table api_key_uses rename to renamed_uses`.execute(db)
  const failing = uses.flush()
  uses.note(second.id, NOON_MS + 5)
  await failing
  assert.match(lines.join(''), /key_uses_flush_failed/)
  await sql`alter table renamed_uses rename to api_key_uses`.execute(db)
  await uses.flush()
  assert.deepEqual([await usedAtMs(first.id), await usedAtMs(second.id)], [NOON_MS, NOON_MS + 5])
})

test('an unknown key does not block the uses of the others', async () => {
  const { key } = await seedCustomer(database.db, { balanceBrl: '0' })
  const uses = createUses()
  uses.note(createId(), NOON_MS)
  uses.note(key.id, NOON_MS)
  await uses.flush()
  assert.equal(await usedAtMs(key.id), NOON_MS)
})

test('nodes that write the same keys concurrently do not block each other', async () => {
  const { db } = database
  const { customerId, key } = await seedCustomer(db, { balanceBrl: '0' })
  const { rows } = await sql<{ id: string }>`
    insert into api_keys (id, customer_id, name, secret_hash, last_four, requests_per_minute)
    select gen_random_uuid(), ${customerId}, 'muitas', sha256(i::text::bytea), '0000', 1
    from generate_series(1, 200) as i returning id`.execute(db)
  const ids = [key.id, ...rows.map(({ id }) => id)]
  const lines: string[] = []
  const nodes = Array.from({ length: 8 }, () => createUses(lines))
  for (let round = 1; round <= 5; round += 1) {
    for (const [index, node] of nodes.entries()) {
      const order = index % 2 ? ids : ids.toReversed()
      for (const id of order) node.note(id, NOON_MS + round)
    }
    await Promise.all(nodes.map((node) => node.flush()))
  }
  assert.deepEqual(lines, [])
  assert.equal(await usedAtMs(ids.at(-1) as string), NOON_MS + 5)
})

test('a use just before a node stops is stored', async () => {
  const { key, secret } = await seedCustomer(database.db, { balanceBrl: '1' })
  const node = await startLocalNode({ databaseUrl: database.databaseUrl })
  try {
    const headers = { authorization: `Bearer ${secret}` }
    assert.equal((await fetch(`${node.baseUrl}/usage`, { headers })).status, 200)
  } finally {
    await node.stop()
    await node.remove()
  }
  assert.ok((await usedAtMs(key.id)) !== undefined)
})
