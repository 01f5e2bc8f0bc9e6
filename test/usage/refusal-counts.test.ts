/** Calls that were answered with an error are counted once, whatever happens to nodes and the database, within bounds. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type NetConnectOpts } from 'node:net'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { openDatabase, type Database } from '../../src/platform/db/open.ts'
import { createLog } from '../../src/platform/lib/log.ts'
import { deleteAccount } from '../../src/identity/personal-data/delete-account.ts'
import { OPERATOR } from '../../src/platform/audit-log/audited.ts'
import { eraseRemains } from '../../src/identity/personal-data/erase-remains.ts'
import {
  createRefusalCounts,
  type RefusalCountLimits,
} from '../../src/money/usage/refusal-counts.ts'
import { createTestDatabase, seedCustomer, type TestDatabase } from '../harness/test-database.ts'

const HOUR_MS = 3_600_000
const NOON_MS = Date.UTC(2026, 0, 31, 12)
const SMALL: RefusalCountLimits = { ownMax: 10, max: 40, batch: 7 }
const REFUSED = { code: 'insufficient_balance', status: 402 }

let database: TestDatabase

before(async () => {
  database = await createTestDatabase()
})
after(() => database.drop())

interface Account {
  readonly customerId: string
  readonly keyIds: readonly string[]
}

async function newAccount(keys = 1): Promise<Account> {
  const { db } = database
  const { customerId } = await seedCustomer(db, { balanceBrl: '0' })
  const { rows } = await sql<{ id: string }>`
    insert into api_keys (id, customer_id, name, secret_hash, last_four, requests_per_minute)
    select gen_random_uuid(), ${customerId}, 'muitas', sha256(gen_random_uuid()::text::bytea), '0000', 1
    from generate_series(1, ${keys}::int4) returning id`.execute(db)
  return { customerId, keyIds: rows.map(({ id }) => id) }
}

function createCounts({
  db = database.db,
  limits,
}: { db?: Database; limits?: RefusalCountLimits } = {}) {
  const clock = { nowMs: NOON_MS }
  const lines: string[] = []
  const counts = createRefusalCounts({
    db,
    log: createLog('warn', (line) => lines.push(line)),
    now: () => clock.nowMs,
    ...(limits ? { limits } : {}),
  })
  const refuse = ({ customerId, keyIds }: Account, modelId?: string, key = 0): void =>
    counts.note({ customerId, keyId: keyIds[key] as string, modelId, ...REFUSED })
  return { clock, lines, refuse, flush: () => counts.flush() }
}

async function rowsOf({ customerId }: Account) {
  const rows = await database.db
    .selectFrom('usage_refusals')
    .selectAll()
    .where('customer_id', '=', customerId)
    .orderBy('hour_at')
    .execute()
  return rows.map((row) => ({ ...row, refusals: Number(row.refusals) }))
}

async function sumOf(account: Account): Promise<number> {
  return (await rowsOf(account)).reduce((sum, { refusals }) => sum + refusals, 0)
}

test('nodes that count the same keys at once add up, and do not block each other', async () => {
  const account = await newAccount(200)
  const limits = { ownMax: 200, max: 200, batch: 2_000 }
  const nodes = Array.from({ length: 6 }, () => createCounts({ limits }))
  for (let round = 0; round < 4; round++) {
    for (const [place, node] of nodes.entries())
      for (let each = 0; each < 200; each++)
        node.refuse(account, 'm', place % 2 ? each : 199 - each)
    await Promise.all(nodes.map((node) => node.flush()))
  }
  const rows = await rowsOf(account)
  assert.deepEqual(
    nodes.flatMap(({ lines }) => lines),
    [],
  )
  assert.equal(rows.length, 200)
  assert.ok(rows.every(({ refusals }) => refusals === 24))
})

test('each hour, model and key has a row with its first and its last time', async () => {
  const account = await newAccount(2)
  const { clock, refuse, flush } = createCounts()
  for (const minutes of [1, 2, 61]) {
    clock.nowMs = NOON_MS + minutes * 60_000
    refuse(account, 'm')
    await flush()
  }
  refuse(account)
  refuse(account, 'm', 1)
  await flush()
  const rows = await rowsOf(account)
  assert.equal(rows.length, 4)
  const [first] = rows
  assert.equal(first?.hour_at.getTime(), NOON_MS)
  assert.equal(first?.refusals, 2)
  assert.deepEqual(
    [first?.first_at.getTime(), first?.last_at.getTime()],
    [NOON_MS + 60_000, NOON_MS + 120_000],
  )
  assert.equal(rows.filter(({ model_id: model }) => model === null).length, 1)
})

test('what could not be written is written later, once, with what came meanwhile', async () => {
  const account = await newAccount()
  const { lines, refuse, flush } = createCounts()
  refuse(account)
  refuse(account, 'm')
  await sql`alter table usage_refusals rename to refusals_away`.execute(database.db)
  try {
    const failing = flush()
    refuse(account)
    await failing
  } finally {
    await sql`alter table refusals_away rename to usage_refusals`.execute(database.db)
  }
  assert.match(lines.join(''), /refusals_flush_failed/)
  await flush()
  await flush()
  const rows = await rowsOf(account)
  assert.deepEqual(
    rows.map(({ refusals }) => refusals).toSorted((left, right) => left - right),
    [1, 2],
  )
})

for (const isCommitted of [true, false])
  test(`a connection that is lost during a commit that ${isCommitted ? 'succeeds' : 'fails'} counts once`, async () => {
    const account = await newAccount()
    const proxy = await startLosingProxy(database.databaseUrl, isCommitted)
    const { db, close } = openDatabase(proxy.databaseUrl, { onError() {} })
    try {
      const { lines, refuse, flush } = createCounts({ db })
      refuse(account)
      proxy.loseNextCommit()
      await flush()
      assert.match(lines.join(''), /refusals_flush_failed/)
      assert.equal(await sumOf(account), isCommitted ? 1 : 0)
      refuse(account)
      // A lost transaction may still be in progress.
      for (let sum = 0; sum < 2; sum = await sumOf(account)) await flush()
      assert.equal(await sumOf(account), 2)
    } finally {
      await close()
      await proxy.close()
    }
  })

test('an account has a bounded number of rows in an hour, whatever it asks for, and each call counts', async () => {
  const [hostile, other] = [await newAccount(100), await newAccount()]
  const { clock, lines, refuse, flush } = createCounts({ limits: SMALL })
  let calls = 0
  for (let round = 0; round < 3; round++) {
    for (let key = 0; key < 100; key++)
      for (const model of ['a', 'b', 'c']) {
        refuse(hostile, model, key)
        calls += 1
      }
    await flush()
  }
  refuse(other, 'a')
  await flush()
  const rows = await rowsOf(hostile)
  assert.equal(await sumOf(hostile), calls)
  assert.equal(rows.length, 2 * SMALL.ownMax + 1)
  assert.equal(rows.filter(({ api_key_id: key }) => key === null).length, 1)
  assert.equal((await rowsOf(other))[0]?.model_id, 'a', 'others are counted as before')
  clock.nowMs += HOUR_MS
  await flush()
  refuse(hostile, 'd', 99)
  await flush()
  assert.equal((await rowsOf(hostile)).at(-1)?.model_id, 'd', 'the next hour has room again')
  assert.deepEqual(lines, [])
})

test('a key that a promoted standby never received is not counted, and holds up no other', async () => {
  const account = await newAccount()
  const { lines, refuse, flush } = createCounts()
  refuse({ ...account, keyIds: [randomUUID()] })
  refuse(account)
  await flush()
  assert.deepEqual(lines, [])
  assert.equal(await sumOf(account), 1)
})

test('an account without money can fill only a small part of the disk', async () => {
  const hostile = await newAccount(40)
  const { refuse, flush } = createCounts()
  for (let key = 0; key < 40; key++)
    for (let model = 0; model < 50; model++) refuse(hostile, `m${model}`, key)
  await flush()
  const rows = await rowsOf(hostile)
  assert.equal(await sumOf(hostile), 2_000)
  // In 90 days and one process less than half a million, which one request sums.
  assert.ok(rows.length * 24 * 90 < 500_000, `${rows.length} rows in an hour`)
})

test('more accounts than the memory has room for are counted without their models, and then not at all', async () => {
  const accounts = await Promise.all(Array.from({ length: 3 * SMALL.max + 5 }, () => newAccount()))
  const { lines, refuse, flush } = createCounts({ limits: SMALL })
  for (const account of accounts) refuse(account, 'm')
  await flush()
  let [counted, withModels] = [0, 0]
  for (const account of accounts) {
    counted += await sumOf(account)
    withModels += (await rowsOf(account)).filter(({ model_id: model }) => model === 'm').length
  }
  assert.equal(withModels, SMALL.max)
  assert.equal(counted, 3 * SMALL.max)
  assert.match(lines.join(''), /refusals_not_counted.*"refusals":5/)
})

test('a deleted account is not counted, and holds up no other', async () => {
  const [gone, left] = [await newAccount(), await newAccount()]
  const { lines, refuse, flush } = createCounts()
  refuse(gone)
  await flush()
  await deleteAccount(database.db, OPERATOR, {
    customerId: gone.customerId,
    waiveBalance: true,
  })
  await eraseRemains(database.db, gone.customerId)
  assert.deepEqual(await rowsOf(gone), [], 'the deletion erases what was there')
  refuse(gone)
  refuse(left)
  await flush()
  assert.deepEqual([await rowsOf(gone), await sumOf(left), lines], [[], 1, []])
})

/** The message of the protocol. */
const COMMIT = Buffer.from('Q\0\0\0\u000bcommit\0')

/** Passes everything on, but ends a connection at its commit: before the database gets it, or before its answer comes. */
async function startLosingProxy(databaseUrl: string, reachesDatabase: boolean) {
  const url = new URL(databaseUrl)
  const target: NetConnectOpts = url.searchParams.has('host')
    ? { path: `${url.searchParams.get('host')}/.s.PGSQL.${url.port || '5432'}` }
    : { host: url.hostname, port: Number(url.port || '5432') }
  let isLosing = false
  const server = createServer((near) => {
    const far = connect(target)
    let isLost = false
    const end = (): void => {
      near.destroy()
      far.destroy()
    }
    near.on('data', (bytes) => {
      if (isLosing && bytes.includes(COMMIT)) {
        isLosing = false
        isLost = true
        if (!reachesDatabase) return end()
      }
      far.write(bytes)
    })
    far.on('data', (bytes) => (isLost ? end() : near.write(bytes)))
    for (const socket of [near, far]) {
      socket.on('error', () => {})
      socket.on('close', end)
    }
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  url.searchParams.delete('host')
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)
  return {
    databaseUrl: url.href,
    loseNextCommit: () => void (isLosing = true),
    close: () => new Promise((resolve) => server.close(resolve)),
  }
}
