// deep: servers of PostgreSQL that fail
/** A node behind a pooler in transaction mode, which keeps nothing of a connection from one transaction to the next. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { DatabaseClient } from '../../src/platform/db/database-client.ts'
import { connectionConfig, inTransaction, openDatabase } from '../../src/platform/db/open.ts'
import { assertAudit, untilNoHoldIsOpen } from '../harness/assert-audit.ts'
import { compareThreeCounts } from '../harness/compare-three-counts.ts'
import { startLoadClients } from '../harness/load-clients.ts'
import { createTestDatabase, seedCustomer, type TestDatabase } from '../harness/test-database.ts'
import { startTestNode } from '../harness/test-node.ts'
import { openTransactionPooler, type TransactionPooler } from '../harness/transaction-pooler.ts'
import {
  startSandboxUpstream,
  type SandboxUpstream,
} from '../../src/sandbox/upstream/start-sandbox-upstream.ts'
import { configured, impatientModels, impatientUpstream } from '../harness/media-calls.ts'

let database: TestDatabase
let pooler: TransactionPooler
let sandbox: SandboxUpstream

before(async () => {
  database = await createTestDatabase()
  pooler = await openTransactionPooler(database.databaseUrl)
  sandbox = await startSandboxUpstream()
})

after(async () => {
  await sandbox.close()
  await pooler.close()
  await database.drop()
})

test('a node on a pooler in transaction mode charges every answer once, and leaves no hold', async () => {
  const node = await startTestNode({
    databaseUrl: pooler.databaseUrl,
    env: configured({
      upstreams: [impatientUpstream(sandbox.baseUrl)],
      models: impatientModels(['sandbox-chat'], {
        category: 'llm',
        context_tokens: 8_192,
        markup_multiplier: '2',
        prices: { input: '1', output: '2' },
      }),
    }),
  })
  const { secret, customerId } = await seedCustomer(database.db, { balanceBrl: '1000' })
  const clients = startLoadClients({
    count: 6,
    baseUrls: () => [node.baseUrl],
    secret,
    calls: ['impatient-sandbox-chat'],
  })
  while (clients.wholeSoFar < 60) await new Promise((resolve) => setTimeout(resolve, 20))
  const received = await clients.stop()
  assert.deepEqual(
    received.filter(({ isWhole }) => !isWhole).map(({ status }) => status),
    [],
    'every call is answered',
  )
  await untilNoHoldIsOpen(database)
  const { whole, charged } = await compareThreeCounts(database.db, {
    customerId,
    received,
    upstreamCalls: sandbox.counts.calls,
  })
  assert.equal(charged.length, whole.length)
  await assertAudit(database)
  await node.stop()
  assert.doesNotMatch(node.log.join('\n'), /"level":"error"|_failed"/)
  await node.remove()
})

test('a transaction may set its isolation level after it began, and keeps its settings', async () => {
  const { db, close } = openDatabase(pooler.databaseUrl, { onError: () => {} })
  const { rows } = await db.transaction().execute(async (trx) => {
    await sql`set transaction isolation level repeatable read`.execute(trx)
    return sql<{ isolation: string; path: string }>`
      select current_setting('transaction_isolation') as isolation, current_setting('search_path') as path`.execute(
      trx,
    )
  })
  assert.equal(rows[0]?.isolation, 'repeatable read')
  assert.match(rows[0]?.path ?? '', /, ?public$/)
  await close()
})

test('every statement has its settings, alone and in transactions, and leaves none behind', async () => {
  const { db, close } = openDatabase(pooler.databaseUrl, { onError: () => {} })
  const settings = sql<{ lock: string; path: string; zone: string; timeout: string }>`
    select current_setting('lock_timeout') as lock, current_setting('search_path') as path,
      current_setting('timezone') as zone, current_setting('statement_timeout') as timeout`
  const seen = await Promise.all(
    Array.from({ length: 30 }, async (_, turn) => {
      if (turn % 2 === 0) return (await settings.execute(db)).rows[0]
      return inTransaction(db, async (trx) => {
        await sql`select 1`.execute(trx)
        return (await settings.execute(trx)).rows[0]
      })
    }),
  )
  for (const each of seen) {
    assert.match(each?.path ?? '', /^functions_[0-9a-f]+, ?public$/)
    assert.deepEqual([each?.lock, each?.zone, each?.timeout], ['3s', 'UTC', '10s'])
  }
  await close()
  const bare = new DatabaseClient({
    ...connectionConfig(pooler.databaseUrl),
    settings: { jit: 'on' },
  })
  await bare.connect()
  const { rows } = await bare.query('show lock_timeout')
  assert.deepEqual(rows, [{ lock_timeout: '0' }])
  await bare.end()
})

test('a statement that fails rolls its transaction back and tells its own error', async () => {
  const { db, close } = openDatabase(pooler.databaseUrl, { onError: () => {} })
  await sql`create table kept (n int4 primary key)`.execute(db)
  await sql`insert into kept values (1)`.execute(db)
  await assert.rejects(sql`insert into kept values (2), (1)`.execute(db), { code: '23505' })
  await assert.rejects(
    inTransaction(db, async (trx) => {
      await sql`insert into kept values (3)`.execute(trx)
      throw new Error('undone')
    }),
    /undone/,
  )
  const { rows } = await sql<{ n: number }>`select n from kept`.execute(db)
  assert.deepEqual(rows, [{ n: 1 }])
  await sql`drop table kept`.execute(db)
  await close()
})

test('a pooler that the address does not name is refused at the start, with the mending', async () => {
  const undeclared = pooler.databaseUrl.replace('pgbouncer=true', 'pgbouncer=false')
  await assert.rejects(
    startTestNode({ databaseUrl: undeclared }),
    /DATABASE_URL leads to a pooler such as PgBouncer.*add pgbouncer=true/,
  )
})
