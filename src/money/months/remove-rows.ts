/**
 * Removes the rows of an archived month from the table. They are already read from files, so it may fail and be repeated.
 * The month's partition is emptied by a truncation, which takes no time but is visible to older snapshots: it waits until
 * none is left that still reads the rows, and never queues for a lock for longer than calls notice.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { sql, type RawBuilder } from 'kysely'
import { isLockTimeout, type Database } from '../../platform/db/open.ts'
import { withoutTimeout } from '../../platform/db/without-timeout.ts'
import { boundsOf, firstDay, type Month } from './month.ts'
import { CHARGES_MAX } from '../public-bills/read-public-bill.ts'

export type Removal =
  | { readonly kind: 'removed' }
  | { readonly kind: 'waits'; readonly for: string }

const WITHIN_MS = 60_000
const PAUSE_MS = 200
const LOCK_TIMEOUT_MS = 200
const BATCH = 5_000

export async function removeRows(
  db: Database,
  month: Month,
  withinMs: number = WITHIN_MS,
): Promise<Removal> {
  const row = await db
    .selectFrom('archived_months')
    .select(['archived_at', 'removed_at'])
    .where('month', '=', firstDay(month))
    .executeTakeFirst()
  if (!row?.archived_at) throw new Error(`${month} is not archived`)
  if (row.removed_at) return { kind: 'removed' }
  const { rows } = await sql<{ at: string }>`
    select least(clock_timestamp(), archived_at + interval '1 minute')::text as at
    from archived_months where month = ${firstDay(month)}::date`.execute(db)
  const seenSince = rows[0]?.at as string
  const giveUpAt = Date.now() + withinMs
  for (;;) {
    const waitsFor =
      (await findOlderSnapshot(db, seenSince)) ?? (await orLocked(() => removeNow(db, month)))
    if (waitsFor === undefined) return { kind: 'removed' }
    if (Date.now() > giveUpAt) return { kind: 'waits', for: waitsFor }
    await sleep(PAUSE_MS)
  }
}

/** A snapshot that may be older than the moment from which the files are read. */
async function findOlderSnapshot(db: Database, seenSince: string): Promise<string | undefined> {
  const { rows } = await sql<{ holder: string }>`
    select concat('a snapshot of ', coalesce(nullif(application_name, ''), 'a connection'), ' (pid ', pid, ', ', usename, ')')
      as holder
    from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()
      and backend_xmin is not null and xact_start < ${seenSince}::timestamptz limit 1`.execute(db)
  return rows[0]?.holder
}

async function orLocked(work: () => Promise<void>): Promise<string | undefined> {
  try {
    await work()
    return undefined
  } catch (error) {
    if (!isLockTimeout(error)) throw error
    return 'a lock of its partition: a dump, or a long statement'
  }
}

async function removeNow(db: Database, month: Month): Promise<void> {
  const bounds = boundsOf(month)
  const kept = await withoutTimeout(db, (trx) => findKeptEvents(trx, bounds))
  const partition = await findPartition(db, month)
  await removeStragglers(db, { bounds, kept, partition })
  await db.transaction().execute(async (trx) => {
    await sql`select set_config('lock_timeout', ${`${LOCK_TIMEOUT_MS}`}, true),
      set_config('statement_timeout', '60s', true)`.execute(trx)
    if (partition !== undefined) await emptyPartition(trx, sql.table(partition), { bounds, kept })
    await sql`
      update usage_events e set session_id = null
      where id = any(${kept}::uuid[]) and ${settledWithin(bounds)} and session_id is not null
        and not exists (
          select from public_bills b where b.customer_id = e.customer_id and b.session_id = e.session_id)`.execute(
      trx,
    )
    await sql`update archived_months set removed_at = clock_timestamp()
      where month = ${firstDay(month)}::date`.execute(trx)
  })
}

interface Rest {
  readonly bounds: { readonly fromAt: string; readonly toAt: string }
  readonly kept: readonly string[]
}

function settledWithin({ fromAt, toAt }: Rest['bounds']): RawBuilder<boolean> {
  return sql<boolean>`(settled_at >= ${fromAt}::timestamptz and settled_at < ${toAt}::timestamptz)`
}

async function findPartition(db: Database, month: Month): Promise<string | undefined> {
  const name = `usage_events_${month.replace('-', '_')}`
  const { rows } = await sql<{ name: string }>`
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'usage_events'::regclass and c.relname = ${name}`.execute(db)
  return rows[0]?.name
}

/**
 * Removes the month's rows from other partitions: calls that began in another month than they were settled in, and
 * months in `usage_events_past`.
 */
async function removeStragglers(
  db: Database,
  { bounds, kept, partition }: Rest & { partition: string | undefined },
): Promise<void> {
  const elsewhere =
    partition === undefined ? sql`` : sql`and tableoid <> ${`public.${partition}`}::regclass`
  for (;;) {
    const batch = sql`
      delete from usage_events e using (
        select id, created_at from usage_events
        where ${settledWithin(bounds)} and id <> all(${kept}::uuid[]) ${elsewhere} limit ${BATCH}) found
      where e.id = found.id and e.created_at = found.created_at`
    const { numAffectedRows = 0n } = await withoutTimeout(db, (trx) => batch.execute(trx))
    if (numAffectedRows < BigInt(BATCH)) return
  }
}

async function emptyPartition(
  trx: Database,
  partition: RawBuilder<unknown>,
  { bounds, kept }: Rest,
): Promise<void> {
  await sql`lock table ${partition} in access exclusive mode`.execute(trx)
  await sql`
    create temp table kept_usage_events on commit drop as
    select * from ${partition} where settled_at < ${bounds.fromAt}::timestamptz
    union all
    select * from ${partition} where settled_at >= ${bounds.toAt}::timestamptz
    union all
    select * from ${partition} where id = any(${kept}::uuid[]) and ${settledWithin(bounds)}`.execute(
    trx,
  )
  await sql`truncate ${partition}`.execute(trx)
  await sql`insert into ${partition} select * from kept_usage_events`.execute(trx)
}

/**
 * The ids of archived events of which the table keeps a copy, because something later names them: corrections and debts
 * that were recorded after the month, which the audit compares with them, and public bills, which anybody reads.
 */
async function findKeptEvents(
  db: Database,
  { fromAt, toAt }: { readonly fromAt: string; readonly toAt: string },
): Promise<string[]> {
  const ofMonth = sql`e.settled_at >= ${fromAt}::timestamptz and e.settled_at < ${toAt}::timestamptz`
  const named = (ids: RawBuilder<unknown>) => sql`
    select e.id from (${ids}) named(id) join usage_events e on e.id = named.id where ${ofMonth}
    union
    select e.id from (${ids}) named(id) join usage_events e on e.corrects_id = named.id where ${ofMonth}`
  const { rows } = await sql<{ id: string }>`
    ${named(sql`select hold_id from charge_corrections where created_at >= ${toAt}::timestamptz`)}
    union
    ${named(sql`select unnest(hold_ids) from account_debts where created_at >= ${toAt}::timestamptz`)}
    union
    ${named(sql`select usage_event_id from public_bills where usage_event_id is not null`)}
    union
    select e.id from public_bills b cross join lateral (
      select e.id, e.settled_at from usage_events e
      where e.customer_id = b.customer_id and e.session_id = b.session_id and e.outcome = 'charged'
      order by e.created_at, e.id limit ${CHARGES_MAX + 1}) e
    where b.session_id is not null and ${ofMonth}`.execute(db)
  return rows.map(({ id }) => id)
}
