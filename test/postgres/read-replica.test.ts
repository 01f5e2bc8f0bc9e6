// deep: servers of PostgreSQL that fail
/** A node that sends its heavy reads to a real replica: one that is behind, in conflict, or dead. */
import { BY_OPERATOR } from '../harness/ask.ts'
import assert from 'node:assert/strict'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { migrate } from '../../src/platform/db/migrate.ts'
import { openDatabase, type OpenDatabase } from '../../src/platform/db/open.ts'
import {
  openReadReplicas,
  type ReadReplicas,
} from '../../src/platform/db/replicas/open-read-replicas.ts'
import { createLog } from '../../src/platform/lib/log.ts'
import { credit } from '../../src/money/ledger/entries.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { ensureMonths } from '../../src/app/workers/ensure-months.ts'
import { startDatabasePair, type DatabasePair } from '../harness/database-pair.ts'
import { memoryFolder } from '../harness/memory-folder.ts'
import { runCli } from '../harness/run-cli.ts'
import { seedCustomer, urlOf, withClient } from '../harness/test-database.ts'
import { startLocalNode, type LocalNode } from '../harness/local-node.ts'

const WAIT_MS_MAX = 30_000
const AS_OF = 'x-data-as-of'

let folder: string
let pair: DatabasePair
let database: OpenDatabase
let node: LocalNode
let customer: Awaited<ReturnType<typeof seedCustomer>>
let stranger: Awaited<ReturnType<typeof seedCustomer>>

before(async () => {
  folder = await mkdtemp(join(memoryFolder(), 'catraca-replica-'))
  // The database's account is not root.
  await chmod(folder, 0o755)
  pair = await startDatabasePair(folder, { isSynchronous: false })
  await migrate(pair.primary.databaseUrl)
  database = openDatabase(pair.primary.databaseUrl, { onError: () => {} })
  await ensureMonths(database.db)
  node = await startLocalNode({
    databaseUrl: pair.primary.databaseUrl,
    env: { DATABASE_READ_URL: pair.standby.databaseUrl, DATABASE_READ_LAG_SECONDS_MAX: '8' },
  })
  customer = await seedCustomer(database.db, { balanceBrl: '100' })
  stranger = await seedCustomer(database.db, { balanceBrl: '100' })
})

after(async () => {
  await node?.stop()
  await node?.remove()
  await database?.close()
  await pair?.close()
  await rm(folder, { recursive: true, force: true })
})

interface Answer {
  readonly status: number
  /** Undefined: it was read from the primary. */
  readonly asOf: Date | undefined
  readonly body: Record<string, unknown>
}

async function get(path: string, { secret } = customer): Promise<Answer> {
  const answer = await fetch(`${node.baseUrl}${path}`, {
    headers: { authorization: `Bearer ${secret}` },
  })
  const asOf = answer.headers.get(AS_OF)
  return {
    status: answer.status,
    asOf: asOf === null ? undefined : new Date(asOf),
    body: (await answer.json()) as Record<string, unknown>,
  }
}

async function call(): Promise<void> {
  const answer = await fetch(`${node.baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${customer.secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sandbox-chat', messages: [{ role: 'user', content: 'oi' }] }),
  })
  assert.equal(answer.status, 200, await answer.text())
}

function countOf({ body }: Answer): number {
  return (body.usage_events as unknown[]).length
}

async function until<Found>(what: string, find: () => Promise<Found | undefined>): Promise<Found> {
  for (const deadline = Date.now() + WAIT_MS_MAX; Date.now() < deadline; await sleep(50)) {
    const found = await find()
    if (found !== undefined) return found
  }
  return assert.fail(`${what}\n${node.log.slice(-10).join('\n')}`)
}

const untilReadFromReplica = (): Promise<Answer> =>
  until('no answer comes from the replica', async () => {
    const answer = await get('/usage/events')
    return answer.asOf ? answer : undefined
  })

const onStandby = (statement: string) =>
  withClient(pair.standby.databaseUrl, async (client) => client.query(statement))

function linesOf(event: string): readonly Record<string, unknown>[] {
  return node.log
    .filter((line) => line.includes(`"${event}"`))
    .map((line) => JSON.parse(line) as Record<string, unknown>)
}

test('a page of the replica shows what was committed just before, and says how old it may be', async () => {
  await untilReadFromReplica()
  const events = countOf(await get('/usage/events'))
  await call()
  const answer = await get('/usage/events')
  assert.equal(countOf(answer), events + 1)
  assert.ok(answer.asOf && answer.asOf.getTime() <= Date.now())
})

test('while replay stands still, pages are old and say so; money is shown at once, and nobody sees others’ data', async () => {
  const { asOf: before } = await untilReadFromReplica()
  const known = countOf(await get('/usage/events'))
  await onStandby('select pg_wal_replay_pause()')
  await until('replay does not pause', async () => {
    const { rows } = await onStandby('select pg_get_wal_replay_pause_state() as state')
    return (rows[0] as { state: string }).state === 'paused' ? true : undefined
  })
  await call()
  await credit(database.db, {
    customerId: customer.customerId,
    amountNanoBrl: 7_000_000_000n,
    reason: 'top_up',
    reference: createId(),
  })
  const calledAt = Date.now()
  const old = await get('/usage/events')
  assert.equal(countOf(old), known, 'the page is of the replica')
  assert.ok(before && old.asOf && old.asOf >= before && old.asOf.getTime() < calledAt)
  const own = await get('/usage')
  assert.equal(own.asOf, undefined)
  assert.equal(countOf(own), known + 1, 'the newest charges are the primary’s')
  const { balance_brl: balance } = own.body.balance as { balance_brl: number }
  assert.ok(balance > 106, String(balance))
  const summary = await get('/me/usage-summary')
  assert.ok(summary.asOf, 'sums come from the replica')
  assert.equal(summary.body.balance_brl, balance, 'the balance beside them does not')
  assert.deepEqual((await get('/usage/events', stranger)).body.usage_events, [])
  const metrics = await (await fetch(`http://127.0.0.1:${node.port}/metrics`, BY_OPERATOR)).text()
  assert.match(metrics, /^catraca_replica_lag_seconds\{replica="[^"]+"\} [0-9.]+$/m)
  assert.match(metrics, /^catraca_replica_read\{replica="[^"]+"\} 1$/m)
})

test('a replica that is further behind than the limit is left, with one line of the log, and read again', async () => {
  const primary = await until('the primary is not read', async () => {
    const answer = await get('/usage/events')
    return answer.asOf ? undefined : answer
  })
  assert.equal(countOf(primary), countOf(await get('/usage')))
  const left = await until('nothing is logged', async () => {
    const lines = linesOf('replica_left')
    return lines.length > 0 ? lines : undefined
  })
  assert.deepEqual(
    left.map(({ trouble }) => trouble),
    ['behind'],
  )
  await onStandby('select pg_wal_replay_resume()')
  assert.equal(countOf(await untilReadFromReplica()), countOf(primary))
  assert.equal(linesOf('replica_left').length, 1)
})

test('the doctor says how far the replica is behind', async () => {
  const doctor = await runCli(['doctor'], {
    DATABASE_URL: pair.primary.databaseUrl,
    DATABASE_READ_URL: pair.standby.databaseUrl,
    DATA_DIR: join(folder, 'none'),
  })
  assert.match(doctor.stdout, /^ok +the replica \S+ is read: its data is .* s old at most$/m)
  const wrong = await runCli(['doctor'], {
    DATABASE_URL: pair.primary.databaseUrl,
    DATABASE_READ_URL: pair.primary.databaseUrl,
    DATA_DIR: join(folder, 'none'),
  })
  assert.match(wrong.stdout, /^warn +the replica \S+ is not read: it takes writes, so it is none/m)
})

async function withReplicas(
  readUrl: string,
  work: (replicas: ReadReplicas) => Promise<void>,
): Promise<void> {
  const replicas = openReadReplicas(readUrl, {
    primary: database.pool,
    ageMsMax: 30_000,
    log: createLog('silent', () => {}),
  })
  try {
    await work(replicas)
  } finally {
    await replicas.close()
  }
}

const untilPicked = (replicas: ReadReplicas) => until('no replica is read', () => replicas.pick())

test('a query that replay cancels is answered by the primary', async () => {
  await sql`create table probe as select 1 as n`.execute(database.db)
  await onStandby(`alter system set max_standby_streaming_delay = 0`)
  await onStandby('select pg_reload_conf()')
  await withReplicas(pair.standby.databaseUrl, async (replicas) => {
    const { db } = await untilPicked(replicas)
    const slow = sql<{ was_slow: boolean }>`
      select pg_is_in_recovery() as was_slow, count(*), case when pg_is_in_recovery() then pg_sleep(9)::text end
      from probe`.execute(db)
    await until('the query does not run', async () => {
      const { rowCount } = await onStandby(
        `select 1 from pg_stat_activity where wait_event = 'PgSleep'`,
      )
      return rowCount === 1 ? true : undefined
    })
    await sql`truncate probe`.execute(database.db)
    assert.deepEqual(
      (await slow).rows.map((row) => row.was_slow),
      [false],
    )
    assert.equal(replicas.list()[0]?.fellBack.conflict, 1)
    assert.ok(await replicas.pick(), 'a conflict is no reason to leave the replica')
  })
  await onStandby('alter system reset max_standby_streaming_delay')
  await onStandby('select pg_reload_conf()')
  await sql`drop table probe`.execute(database.db)
})

test('a read writes nothing, and is a single statement', async () => {
  await withReplicas(pair.standby.databaseUrl, async (replicas) => {
    const { db } = await untilPicked(replicas)
    const { rows } = await sql<{ setting: string }>`
      select current_setting('default_transaction_read_only') as setting`.execute(db)
    assert.deepEqual(rows, [{ setting: 'on' }])
    await assert.rejects(sql`update customers set name = 'x'`.execute(db), { code: '25006' })
    await assert.rejects(
      db.transaction().execute(async () => {}),
      /single statements/,
    )
  })
})

test('of several hosts a standby is read, and neither the primary nor a copy of another database', async () => {
  const { host: first } = new URL(pair.primary.databaseUrl)
  const { host: second } = new URL(pair.standby.databaseUrl)
  const both = pair.primary.databaseUrl.replace(first, `${first},${second}`).replace(/\?.*/, '')
  await withReplicas(both, async (replicas) => {
    await untilPicked(replicas)
    await until('the primary is not recognised', async () =>
      replicas.list()[0]?.trouble === 'takes_writes' ? true : undefined,
    )
    assert.equal(replicas.list()[1]?.trouble, undefined)
  })
  const other = openDatabase(process.env.TEST_DATABASE_URL as string, { onError: () => {} })
  const replicas = openReadReplicas(pair.standby.databaseUrl, {
    primary: other.pool,
    ageMsMax: 30_000,
    log: createLog('silent', () => {}),
  })
  await until('the other system is not found', async () =>
    replicas.list()[0]?.trouble === 'other_system' ? true : undefined,
  )
  assert.equal(await replicas.pick(), undefined)
  await replicas.close()
  await other.close()
})

test('a role without any right but its tables can read where the databases are', async () => {
  await sql.raw(`create role plain_reader login password 'x'`).execute(database.db)
  const url = urlOf(pair.primary.databaseUrl, 'catraca').replace(/\/\/[^@]*@/, '//plain_reader:x@')
  const plain = openDatabase(url, { onError: () => {} })
  const replicas = openReadReplicas(pair.standby.databaseUrl, {
    primary: plain.pool,
    ageMsMax: 30_000,
    log: createLog('silent', () => {}),
  })
  await untilPicked(replicas)
  await replicas.close()
  await plain.close()
})

test('when the replica dies under load, every read is answered, and it is left once', async () => {
  await untilReadFromReplica()
  const lines = linesOf('replica_left').length
  const ending = new AbortController()
  const statuses = new Set<unknown>()
  const readers = Array.from({ length: 8 }, async () => {
    while (!ending.signal.aborted) {
      const read = get('/usage/events').then(({ status }) => status, String)
      statuses.add(await read)
    }
  })
  await pair.standby.kill()
  await until('the dead replica is still read', async () =>
    linesOf('replica_left').length > lines ? true : undefined,
  )
  ending.abort()
  await Promise.all(readers)
  assert.deepEqual([...statuses], [200], node.log.slice(-10).join('\n'))
  const answer = await get('/usage/events')
  assert.equal(answer.asOf, undefined)
  assert.equal(countOf(answer), countOf(await get('/usage')))
  assert.deepEqual(
    linesOf('replica_left')
      .slice(lines)
      .map(({ trouble }) => trouble),
    ['unreachable'],
  )
})
