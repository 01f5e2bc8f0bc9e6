/** Monthly partitions of usage: created beside snapshots and settlements, without a default partition. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import pg from 'pg'
import { connectionConfig, openDatabase } from '../../src/platform/db/open.ts'
import { createLog } from '../../src/platform/lib/log.ts'
import {
  countMonthsAhead,
  ensureMonths,
  keepMonthsAhead,
} from '../../src/app/workers/ensure-months.ts'
import { runningCall, openTestLedger, worth, type TestLedger } from '../harness/open-test-ledger.ts'
import {
  createTestDatabase,
  seedCustomer,
  withClient,
  type TestDatabase,
} from '../harness/test-database.ts'

let database: TestDatabase
let db: TestDatabase['db']
let settling: TestLedger

before(async () => {
  database = await createTestDatabase()
  db = database.db
  settling = await openTestLedger(db, database.databaseUrl)
})
after(async () => {
  await settling.ledger.close()
  await database.drop()
})

/** Names of the partitions, without the name of their table. */
async function partitions(on = db): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select replace(c.relname, 'usage_events_', '') as name
    from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'usage_events'::regclass order by 1`.execute(on)
  return rows.map(({ name }) => name)
}

/** The month by the database's clock, as `YYYY_MM`. */
async function monthName(monthsAhead: number): Promise<string> {
  const { rows } = await sql<{ name: string }>`
    select to_char(date_trunc('month', now() at time zone 'UTC') + make_interval(months => ${monthsAhead}::int4), 'YYYY_MM') as name`.execute(
    db,
  )
  return rows[0]?.name as string
}

/** Holds and settles a call of a new customer, and returns the customer's balance. */
async function settleCall(): Promise<bigint | undefined> {
  const { key, customerId } = await seedCustomer(db, { balanceBrl: worth(10) })
  const attempt = settling.attempt(key, 10)
  const verdict = await settling.ledger.hold(attempt)
  assert.equal(verdict.kind, 'held')
  await settling.ledger.resolve(settling.charge(attempt, 4))
  const row = await db
    .selectFrom('usage_events')
    .select('cost_billed_nano_brl')
    .where('customer_id', '=', customerId)
    .executeTakeFirst()
  return row?.cost_billed_nano_brl
}

test('a month is created while a snapshot that has read every partition is open, and calls settle beside both', async () => {
  const dump = new pg.Client(connectionConfig(database.databaseUrl))
  const maker = new pg.Client(connectionConfig(database.databaseUrl))
  await Promise.all([dump.connect(), maker.connect()])
  try {
    await dump.query('begin isolation level repeatable read')
    // Like pg_dump: every table and every partition stays locked until the transaction ends.
    await dump.query(
      'lock table usage_events in access share mode; select count(*) from usage_events',
    )
    // If it needs a lock that conflicts with the snapshot or a settlement, it fails instead of waiting.
    await ensureMonths(db, 4)
    assert.ok((await partitions()).includes(await monthName(4)))
    // A transaction that has created a month and not committed blocks nothing either.
    await maker.query(`begin; set local lock_timeout = '100ms'; select ensure_usage_partitions(5)`)
    assert.equal(await settleCall(), 40_000n)
    await maker.query('commit')
    assert.equal(await settleCall(), 40_000n)
    await dump.query('commit')
  } finally {
    await Promise.all([dump.end(), maker.end()])
  }
})

test('a month has the columns, keys and indexes of the table, and accepts its events', async () => {
  await ensureMonths(db, 6)
  const { rows } = await sql<{ shape: string }>`
    select (select string_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod) || ' ' || a.attnotnull ||
          coalesce(pg_get_expr(d.adbin, d.adrelid), ''), ', ' order by a.attname)
        from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped)
      || (select string_agg(regexp_replace(pg_get_indexdef(x.indexrelid), '^CREATE (UNIQUE )?INDEX \\S+ ON (ONLY )?\\S+', ''), ', '
          order by regexp_replace(pg_get_indexdef(x.indexrelid), '^CREATE (UNIQUE )?INDEX \\S+ ON (ONLY )?\\S+', ''))
        from pg_index x where x.indrelid = c.oid) as shape
    from pg_class c where c.relname in ('usage_events', ${`usage_events_${await monthName(6)}`})`.execute(
    db,
  )
  assert.equal(rows.length, 2)
  assert.equal(rows[0]?.shape, rows[1]?.shape)
  const { rows: strays } = await sql`
    select c.relname from pg_index x join pg_class c on c.oid = x.indexrelid
    where x.indrelid in (select inhrelid from pg_inherits where inhparent = 'usage_events'::regclass)
      and not exists (select 1 from pg_inherits where inhrelid = x.indexrelid)`.execute(db)
  assert.deepEqual(strays, [], 'indexes that are not part of the table’s')
})

test('nodes that create the same months at once create each once, and none fails', async () => {
  const opened = Array.from({ length: 4 }, () =>
    openDatabase(database.databaseUrl, { onError: () => {} }),
  )
  try {
    await Promise.all(
      opened.flatMap(({ db: node }) => Array.from({ length: 3 }, () => ensureMonths(node, 24))),
    )
  } finally {
    await Promise.all(opened.map(({ close }) => close()))
  }
  const names = await partitions()
  assert.equal(new Set(names).size, names.length)
  assert.equal(await countMonthsAhead(db), 24)
  assert.ok(!names.includes('other') && names.includes('past'))
})

test('with less than two months ahead, a failure to create more alarms the operator, and the node keeps running', async () => {
  const lines: string[] = []
  const log = createLog('info', (line) => lines.push(line))
  for (const ahead of [3, 2, 1])
    await sql`drop table ${sql.table(`usage_events_${await monthName(ahead)}`)}`.execute(db)
  assert.equal(await countMonthsAhead(db), 0)
  await withClient(database.databaseUrl, async (analyst) => {
    // A lock that conflicts with attaching a partition: that of another change of the table, or of its ANALYZE.
    await analyst.query('begin; lock table usage_events in share update exclusive mode')
    await keepMonthsAhead(db, log)
    assert.match(
      lines.join('\n'),
      /"usage_months_short".*"monthsAhead":0|"monthsAhead":0.*"usage_months_short"/,
    )
    assert.equal(await settleCall(), 40_000n)
    await analyst.query('commit')
  })
  lines.length = 0
  await keepMonthsAhead(db, log)
  assert.deepEqual([await countMonthsAhead(db), lines], [24, []])
})

test('a settlement whose month does not exist stays in the spool, and is charged once the month is created', async () => {
  const { key, customerId } = await seedCustomer(db, { balanceBrl: worth(10) })
  const attempt = settling.attempt(key, 10)
  await settling.ledger.hold(attempt)
  await sql`drop table ${sql.table(`usage_events_${await monthName(0)}`)}`.execute(db)
  await settling.ledger.resolve(settling.charge(attempt, 4), runningCall)
  const { ledger } = settling
  await ledger.replaySpool()
  assert.equal(ledger.spoolLength, 1)
  const charged = (): Promise<unknown> =>
    db
      .selectFrom('accounts')
      .select(['charged_nano_brl', 'held_nano_brl'])
      .where('customer_id', '=', customerId)
      .executeTakeFirstOrThrow()
  assert.deepEqual(await charged(), { charged_nano_brl: 0n, held_nano_brl: 100_000n })
  await ensureMonths(db)
  // A row that the database refused is retried after a pause.
  for (; ledger.spoolLength > 0; await sleep(200)) await ledger.replaySpool()
  assert.deepEqual(await charged(), { charged_nano_brl: 40_000n, held_nano_brl: 0n })
})
