/**
 * Moves the events of one month from `usage_events` to files. Killed at any moment, it leaves a month that is whole in
 * the table or whole in proved files: until the row of `archived_months` says that it is archived, the files are an
 * attempt that the next run throws away; from then on they are the place, and the rows in the table a rest that the next
 * run removes.
 */
import { randomUUID } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import type { ArchiveStore } from '../../platform/archive/archive-store.ts'
import { createEventArchive, openWorkDir } from '../../platform/archive/event-archive.ts'
import { audited, type Actor } from '../../platform/audit-log/audited.ts'
import type { Database } from '../../platform/db/open.ts'
import { withoutTimeout } from '../../platform/db/without-timeout.ts'
import { lockArchived, listArchivedFiles } from '../ledger/audit/prove-archived.ts'
import { readPublicBill } from '../public-bills/read-public-bill.ts'
import { ArchiveFault, boundsOf, firstDay, type Month } from './month.ts'
import { findObstacle } from './find-obstacle.ts'
import { removeRows, type Removal } from './remove-rows.ts'
import { storeSums } from './store-sums.ts'
import { FILE_EVENTS_MAX, folderOf, proveFiles, writeFiles, type Attempt } from './write-files.ts'

const MANIFEST = 'manifest.json'
/** Longer than any step between two renewals. */
const LEASE_SECONDS = 300

export type ArchiveStep =
  | 'claimed'
  | 'bills'
  | 'written'
  | 'proved'
  | 'summed'
  | 'archived'
  | 'removed'

export interface ArchiveOptions {
  readonly store: ArchiveStore
  readonly actor: Actor
  readonly now?: Date
  readonly fileEventsMax?: number
  readonly leaseSeconds?: number
  /** How long removing the rows waits for older snapshots, and for locks. */
  readonly removeWithinMs?: number
  readonly afterStep?: (step: ArchiveStep) => Promise<void>
}

export interface ArchivedMonth {
  readonly files: number
  readonly events: bigint
  readonly bytes: bigint
  readonly removal: Removal
}

/** Archives a month. Throws an `ArchiveFault` if the month may not leave, or another process archives it. */
export async function archiveMonth(
  db: Database,
  month: Month,
  options: ArchiveOptions,
): Promise<ArchivedMonth> {
  const now = options.now ?? new Date()
  const afterStep = options.afterStep ?? (async () => {})
  if (!(await isArchived(db, month))) {
    await assertFree(db, month, now)
    const attempt = await claim(db, month, options)
    await afterStep('claimed')
    await proveBills(db, month)
    await afterStep('bills')
    await writeFiles(db, options.store, attempt, options.fileEventsMax ?? FILE_EVENTS_MAX)
    await afterStep('written')
    await proveFiles(db, createEventArchive(options.store), attempt)
    await afterStep('proved')
    await storeSums(db, attempt)
    await afterStep('summed')
    await writeManifest(db, options.store, attempt)
    await assertStored(db, options.store, attempt)
    await commit(db, attempt, { actor: options.actor, now })
    await afterStep('archived')
  }
  const removal = await removeRows(db, month, options.removeWithinMs)
  if (removal.kind === 'removed') await afterStep('removed')
  return { ...(await sumFiles(db, month)), removal }
}

async function isArchived(db: Database, month: Month): Promise<boolean> {
  const row = await db
    .selectFrom('archived_months')
    .select('archived_at')
    .where('month', '=', firstDay(month))
    .executeTakeFirst()
  return row !== undefined && row.archived_at !== null
}

async function assertFree(db: Database, month: Month, now: Date): Promise<void> {
  const obstacle = await findObstacle(db, month, now)
  if (obstacle !== undefined) throw new ArchiveFault(`${month} stays: ${obstacle}`)
}

/** Makes this process the one that archives the month, and throws away what an earlier attempt left. */
async function claim(
  db: Database,
  month: Month,
  { store, leaseSeconds = LEASE_SECONDS }: ArchiveOptions,
): Promise<Attempt> {
  const run = randomUUID()
  const lease = sql`clock_timestamp() + make_interval(secs => ${leaseSeconds})`
  const before = await db
    .selectFrom('archived_months')
    .select('run')
    .where('month', '=', firstDay(month))
    .executeTakeFirst()
  const { rows } = await sql<{ run: string }>`
    insert into archived_months as m (month, run, leased_until) values (${firstDay(month)}, ${run}, ${lease})
    on conflict (month) do update set run = excluded.run, leased_until = excluded.leased_until, started_at = now()
    where m.archived_at is null and m.leased_until < clock_timestamp() and m.run = ${before?.run ?? run}
    returning run`.execute(db)
  if (rows.length === 0)
    throw new ArchiveFault(`${month}: another process archives it, or was killed minutes ago`)
  const attempt: Attempt = {
    month,
    run,
    async renew(trx = db) {
      const { numAffectedRows } = await sql`
        update archived_months set leased_until = ${lease}
        where month = ${firstDay(month)}::date and run = ${run} and archived_at is null`.execute(
        trx,
      )
      if (numAffectedRows !== 1n)
        throw new ArchiveFault(`${month}: another process took over, because this one was too slow`)
    },
  }
  if (before) {
    const left = await store.list(folderOf({ month, run: before.run }))
    // With a manifest they may be the place of the month: this database may be a copy, from the middle of that attempt.
    if (!left.some((name) => name.endsWith(`/${MANIFEST}`)))
      for (const name of left) await store.remove(name)
    await db.transaction().execute(async (trx) => {
      // Removing files takes time: another process may have taken over, and these would be the rows of its month.
      await attempt.renew(trx)
      for (const table of [
        'archived_files',
        'archived_sessions',
        'archived_spends',
        'archived_hours',
      ])
        await sql`delete from ${sql.table(table)} where month = ${firstDay(month)}::date`.execute(
          trx,
        )
    })
  }
  return attempt
}

/** A bill stores the places of its charges in the trees of their seals when it is read, and the trees leave. */
async function proveBills(db: Database, month: Month): Promise<void> {
  const { fromAt, toAt } = boundsOf(month)
  const bills = sql<{ token: string }>`
    select b.token from public_bills b
    where exists (
      select from usage_events e
      where e.settled_at >= ${fromAt}::timestamptz and e.settled_at < ${toAt}::timestamptz
        and e.customer_id = b.customer_id
        and (e.id = b.usage_event_id or e.corrects_id = b.usage_event_id or e.session_id = b.session_id))`
  const { rows } = await withoutTimeout(db, (trx) => bills.execute(trx))
  for (const { token } of rows) {
    // One reading makes a few proofs; without progress the rest is of days that have none.
    for (let proved = -1; ;) {
      const bill = await readPublicBill(db, token)
      const count = bill?.charges.filter(({ proof }) => proof).length ?? 0
      if (count === proved || count === bill?.charges.length) break
      proved = count
    }
  }
}

/**
 * Beside the files, for a reader who has them alone. The audit trusts the database's own rows. It is written last: from then on
 * nobody throws the files away.
 */
async function writeManifest(db: Database, store: ArchiveStore, attempt: Attempt): Promise<void> {
  const { rows } = await sql<{ file: object }>`
    select json_build_object('name', name, 'events', events, 'bytes', bytes, 'sha256', encode(sha256, 'hex'),
      'sums_sha256', encode(sums_hash, 'hex'), 'first_seal', first_seal, 'last_seal', last_seal,
      'created_from', created_from, 'created_to', created_to,
      'seal_hash', (select encode(hash, 'hex') from audit_seals where number = last_seal)) as file
    from archived_files where month = ${firstDay(attempt.month)}::date order by number`.execute(db)
  const work = await openWorkDir()
  try {
    const path = join(work.dir, 'manifest.json')
    const manifest = { month: attempt.month, files: rows.map(({ file }) => file) }
    await writeFile(path, `${JSON.stringify(manifest, null, 2)}\n`)
    await store.put(`${folderOf(attempt)}/${MANIFEST}`, path)
  } finally {
    await work.close()
  }
}

/** A copy of this database, which took the attempt for a dead one, may have thrown files away before the manifest. */
async function assertStored(db: Database, store: ArchiveStore, attempt: Attempt): Promise<void> {
  const stored = new Set(await store.list(folderOf(attempt)))
  for (const { name } of await listArchivedFiles(db, firstDay(attempt.month)))
    if (!stored.has(name)) throw new ArchiveFault(`${name} was removed after it was written`)
}

/** Makes the files the place of the month, from here on. */
function commit(
  db: Database,
  { month, run }: Attempt,
  { actor, now }: { actor: Actor; now: Date },
): Promise<void> {
  return audited(db, actor, async (trx, record) => {
    // No account is erased meanwhile: its sums of sessions would be wrong.
    await lockArchived(trx, 'to change')
    await assertFree(trx, month, now)
    await sql`
      delete from archived_sessions a using customers c
      where a.month = ${firstDay(month)}::date and c.id = a.customer_id and c.deleted_at is not null`.execute(
      trx,
    )
    const { numAffectedRows } = await sql`
      update archived_months set archived_at = clock_timestamp()
      where month = ${firstDay(month)}::date and run = ${run} and archived_at is null`.execute(trx)
    if (numAffectedRows !== 1n) throw new ArchiveFault(`${month}: another process took over`)
    const { files, events, bytes } = await sumFiles(trx, month)
    await record({
      action: 'usage_month.archived',
      customerId: null,
      subjectId: month,
      details: { files, events: Number(events), bytes: Number(bytes) },
    })
  })
}

async function sumFiles(
  db: Database,
  month: Month,
): Promise<{ files: number; events: bigint; bytes: bigint }> {
  const { rows } = await sql<{ files: number; events: bigint; bytes: bigint }>`
    select count(*)::int4 as files, coalesce(sum(events), 0)::int8 as events, coalesce(sum(bytes), 0)::int8 as bytes
    from archived_files where month = ${firstDay(month)}::date`.execute(db)
  return rows[0] as { files: number; events: bigint; bytes: bigint }
}
