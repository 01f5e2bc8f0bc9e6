/**
 * `npm run bench:archive -- --data DIR --events 1000000`: how long it takes to archive a month of so many events in a
 * new folder, how many bytes they are in the table and in files, and how long one customer's export of it takes.
 */
import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { sql } from 'kysely'
import { createEventArchive } from '../../src/platform/archive/event-archive.ts'
import { openFolderStore } from '../../src/platform/archive/folder-store.ts'
import { OPERATOR } from '../../src/platform/audit-log/audited.ts'
import { startEmbedded } from '../../src/platform/db/embedded.ts'
import { migrate } from '../../src/platform/db/migrate.ts'
import { openDatabase, type Database } from '../../src/platform/db/open.ts'
import { withoutTimeout } from '../../src/platform/db/without-timeout.ts'
import { sealUsage } from '../../src/money/ledger/audit/audit-seals.ts'
import { archiveMonth } from '../../src/money/months/archive-month.ts'
import { addMonths } from '../../src/money/months/month.ts'
import { readUsage } from '../../src/money/usage/read-usage.ts'
import { ensureMonths } from '../../src/app/workers/ensure-months.ts'
import { openTestLedger, worth } from '../../test/harness/open-test-ledger.ts'
import { seedCustomer } from '../../test/harness/test-database.ts'
import { report } from '../report.ts'

const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    events: { type: 'string', default: '1000000' },
    customers: { type: 'string', default: '200' },
  },
})
if (!values.data) throw new Error('--data DIR: a new folder')
const month = addMonths(new Date().toISOString().slice(0, 7), -1)
const monthLater = new Date(Date.now() + 400 * 86_400_000)

mkdirSync(values.data, { recursive: true })
// PostgreSQL runs under another account if this process is root.
chmodSync(values.data, 0o755)
const embedded = await startEmbedded({ dataDir: values.data, log: (text) => report(text) })
const { databaseUrl } = embedded
await migrate(databaseUrl)
const { db, close } = openDatabase(databaseUrl, { onError: () => {} })
try {
  await ensureMonths(db)
  const customerId = await addEvents(db, databaseUrl, Number(values.events))
  await timed('sealed', () => sealUsage(db, { share: 1, marginSeconds: 0 }))
  const { rows } = await sql<{ bytes: bigint }>`
    select sum(pg_total_relation_size(inhrelid))::int8 as bytes from pg_inherits
    where inhparent = 'usage_events'::regclass`.execute(db)
  const store = openFolderStore(join(values.data, 'archive'))
  const archived = await timed('archived', () =>
    archiveMonth(db, month, { store, actor: OPERATOR, now: monthLater }),
  )
  report(
    `${archived.events} events in ${archived.files} files: ${perEvent(rows[0]?.bytes)} bytes an event in the table, ${perEvent(archived.bytes)} in files`,
  )
  const charges = await timed('exported', () => countExport(db, customerId, store))
  report(`${charges} charges of one customer`)
} finally {
  await close()
  await embedded.stop()
}

function perEvent(bytes = 0n): string {
  return (Number(bytes) / Number(values.events)).toFixed(0)
}

async function timed<Result>(what: string, work: () => Promise<Result>): Promise<Result> {
  const startedMs = performance.now()
  const result = await work()
  report(`${what} in ${((performance.now() - startedMs) / 1000).toFixed(1)} s`)
  return result
}

/** Copies of one charge with ids and times of their own, evenly over the month and the customers. */
async function addEvents(db: Database, url: string, events: number): Promise<string> {
  const one = await openTestLedger(db, url)
  await sql`
    create table if not exists public.usage_events_bench (like usage_events including all)`.execute(
    db,
  )
  await sql`drop table usage_events_past`.execute(db)
  await sql
    .raw(`alter table usage_events attach partition usage_events_bench
      for values from ('${month}-01T00:00:00Z') to ('${addMonths(month, 1)}-01T00:00:00Z')`)
    .execute(db)
  await sql
    .raw(`alter table usage_events_bench rename to usage_events_${month.replace('-', '_')}`)
    .execute(db)
  const { key, customerId } = await seedCustomer(db, { balanceBrl: worth(1_000_000) })
  const attempt = one.attempt(key, 10, { sessionId: 'uma conversa' })
  await one.ledger.hold(attempt)
  await one.ledger.resolve(one.charge(attempt, 7))
  await one.ledger.close()
  const others = [customerId]
  while (others.length < Number(values.customers))
    others.push((await seedCustomer(db, { balanceBrl: '1' })).customerId)
  const copies = sql`
      insert into usage_events
      select (r).* from (
        select jsonb_populate_record(e, jsonb_build_object(
          'id', gen_random_uuid(), 'request_id', gen_random_uuid(), 'session_id', 'conversa ' || n / 20,
          'customer_id', (${others}::uuid[])[1 + n % ${others.length}],
          'completion_tokens', tokens, 'cost_upstream_pico_usd', tokens * 1000000,
          'cost_billed_nano_brl', tokens * 10000, 'duration_ms', 300 + n % 7001, 'first_byte_ms', 90 + n % 911,
          'created_at', at, 'settled_at', at + interval '2.5 seconds')) as r
        from usage_events e, generate_series(1, ${events}::int4) n
        cross join lateral (select 20 + (n::int8 * 7919) % 1500 as tokens,
          ${`${month}-01T00:01:00Z`}::timestamptz + n * (interval '27 days' / ${events}::int4) as at) t
        where e.id = ${attempt.id}) made`
  await timed('made', () => withoutTimeout(db, (trx) => copies.execute(trx)))
  return customerId
}

async function countExport(
  db: Database,
  customerId: string,
  store: ReturnType<typeof openFolderStore>,
): Promise<number> {
  let charges = 0
  const period = {
    timezone: 'UTC',
    from: `${month}-01`,
    to: `${month}-28`,
    fromAt: `${month}-01T00:00:00.000000Z`,
    untilAt: `${month}-28T00:00:00.000000Z`,
  }
  for await (const batch of readUsage(db, customerId, period, createEventArchive(store)))
    charges += batch.length
  return charges
}
