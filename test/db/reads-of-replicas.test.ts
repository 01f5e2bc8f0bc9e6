import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import Type from 'typebox'
import { Kysely, PostgresDialect, sql } from 'kysely'
import {
  connectionConfig,
  openDatabase,
  openPool,
  type Database,
} from '../../src/platform/db/open.ts'
import { fallBackPool } from '../../src/platform/db/replicas/fall-back-pool.ts'
import { noReplicas } from '../../src/platform/db/replicas/open-read-replicas.ts'
import type { Tables } from '../../src/platform/db/tables.ts'
import { restRoute } from '../../src/http/rest/rest-route.ts'
import { startFreezingProxy } from '../harness/freezing-proxy.ts'
import { createTestDatabase, seedCustomer, type TestDatabase } from '../harness/test-database.ts'

let database: TestDatabase

before(async () => (database = await createTestDatabase()))
after(() => database?.drop())

test('a statement that writes does not run on the primary either when the replica is unreachable', async () => {
  const { customerId } = await seedCustomer(database.db, { balanceBrl: '1' })
  const primary = openDatabase(database.databaseUrl, { onError: () => {} })
  const config = connectionConfig('postgres://x:x@127.0.0.1:1/x')
  const replica = openPool(config, { max: 1, onError: () => {} })
  const db = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool: fallBackPool(replica, primary.pool, () => true) }),
  })
  const rename = (name: string) =>
    db.updateTable('customers').set({ name }).where('id', '=', customerId)
  await assert.rejects(rename('Rui').execute(), { code: '25006' })
  await assert.rejects(sql`select nextval('pg_temp.x')`.execute(db))
  const read = db.selectFrom('customers').select('name').where('id', '=', customerId)
  assert.notEqual((await read.executeTakeFirstOrThrow()).name, 'Rui')
  // A connection that refused a write, or a wrong statement, is as good as before to its next user.
  await primary.db
    .updateTable('customers')
    .set({ name: 'Ana' })
    .where('id', '=', customerId)
    .execute()
  assert.equal((await read.executeTakeFirstOrThrow()).name, 'Ana')
  await db.destroy()
  await primary.close()
})

test('a route that reads from replicas cannot write where there is none', async () => {
  const primary = openDatabase(database.databaseUrl, { onError: () => {} })
  const route = restRoute({
    method: 'GET',
    path: '/x',
    tag: 'Uso',
    summary: 'x',
    access: 'public',
    readsFrom: 'replica',
    answer: Type.Object({}),
    async handle(_call, deps: { db: Database }) {
      await sql`select count(*) from customers`.execute(deps.db)
      await sql`update customers set name = 'Rui'`.execute(deps.db)
      return {}
    },
  })
  const deps = { db: primary.db, replicas: noReplicas(primary.pool) }
  const { handler } = route.handlersOf(deps as never)
  const act = handler as unknown as (request: object, reply: object) => Promise<unknown>
  await assert.rejects(act({}, {}), { code: '25006' })
  await primary.close()
})

test('a dead connection to the replica keeps no reader waiting, and no place in the pool', async () => {
  const primary = openDatabase(database.databaseUrl, { onError: () => {} })
  const proxy = await startFreezingProxy(database.databaseUrl)
  const config = connectionConfig(proxy.databaseUrl)
  const replica = openPool(config, { max: 2, onError: () => {} })
  const failed: unknown[] = []
  const isOfReplica = (error: unknown): boolean => failed.push(error) > 0
  const db = new Kysely<Tables>({
    dialect: new PostgresDialect({ pool: fallBackPool(replica, primary.pool, isOfReplica, 200) }),
  })
  const read = () => sql<{ n: number }>`select 7 as n, 'of a reader'`.execute(db)
  await Promise.all([read(), read()])
  assert.equal(proxy.freeze('of a reader'), 2)
  const answers = await Promise.all([read(), read(), read()])
  assert.deepEqual(
    answers.map(({ rows }) => rows[0]?.n),
    [7, 7, 7],
  )
  assert.ok(failed.length >= 2, String(failed.length))
  await db.destroy()
  await proxy.close()
  await primary.close()
})
