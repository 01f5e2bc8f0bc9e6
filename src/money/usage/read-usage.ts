import { sql } from 'kysely'
import type { ArchivedEvent, EventArchive } from '../../platform/archive/event-archive.ts'
import { eventsIn } from '../../platform/archive/event-columns.ts'
import type { Database } from '../../platform/db/open.ts'
import type { UsagePeriod } from './find-usage-period.ts'
import { selectUsageEvents, type UsageEvent } from './usage-event.ts'
import { jsonBrl } from '../../platform/lib/money.ts'

export interface ReadUsageEvent extends UsageEvent {
  /** Date and time in the period's zone, `31/01/2026 23:59:59`. */
  readonly localTime: string
}

/** Reading a batch takes the database some milliseconds, and its rows take one or two megabytes here. */
const BATCH = 1_000

/** A part of the period is archived, and this node has no archive. */
export class ArchiveNotConfigured extends Error {}

/**
 * Yields all charges of a period in batches, oldest first. Each batch is a separate statement, so a slow reader keeps no
 * transaction and no connection open. A charge that is settled meanwhile may or may not be included. Charges of archived
 * months are read from their files, and joined by the database with what explains them, as all others.
 */
export async function* readUsage(
  db: Database,
  customerId: string,
  period: UsagePeriod,
  archive?: EventArchive,
): AsyncGenerator<readonly ReadUsageEvent[]> {
  let last: Place | undefined
  for (;;) {
    const until = await readArchivedUntil(db, period, archive)
    const from = { ...period, fromAt: last?.at ?? period.fromAt }
    const archived = startArchived(archive?.readCustomer(db, customerId, from))
    try {
      for (;;) {
        const batch = await readBatch(db, {
          customerId,
          period,
          last,
          lines: await archived.next(last),
        })
        // Another month left meanwhile, and its rows with it: the batch may lack them.
        if (batch.archivedUntil !== until) break
        yield batch.rows.filter((row) => row.outcome === 'charged')
        const end = batch.rows.at(-1)
        if (!end || batch.rows.length < BATCH) return
        last = { at: end.createdAt, id: end.id }
      }
    } finally {
      await archived.close()
    }
  }
}

interface Place {
  readonly at: string
  readonly id: string
}

async function readArchivedUntil(
  db: Database,
  { fromAt }: UsagePeriod,
  archive: EventArchive | undefined,
): Promise<string> {
  const { rows } = await sql<{ until: string; isCut: boolean }>`
    select archived_until()::text as until, exists (
      select from archived_files f join archived_months m using (month)
      where m.archived_at is not null and f.created_to >= ${fromAt}::timestamptz) as "isCut"`.execute(
    db,
  )
  const { until, isCut } = rows[0] as { until: string; isCut: boolean }
  if (isCut && !archive)
    throw new ArchiveNotConfigured('a part of the period is archived, and ARCHIVE_DIR is not set')
  return until
}

/** Up to a batch of archived events ahead of the last place. */
function startArchived(events: AsyncGenerator<readonly ArchivedEvent[]> | undefined): {
  next(last: Place | undefined): Promise<string[]>
  close(): Promise<void>
} {
  let ahead: ArchivedEvent[] = []
  let isEnded = events === undefined
  return {
    async next(last) {
      if (last) ahead = ahead.filter((event) => isAfter(event, last))
      while (!isEnded && ahead.length < BATCH) {
        const read = await events?.next()
        if (!read || read.done) isEnded = true
        else ahead.push(...read.value.filter((event) => !last || isAfter(event, last)))
      }
      return ahead.slice(0, BATCH).map(({ line }) => line)
    },
    async close() {
      await events?.return(undefined)
    },
  }
}

function isAfter({ createdAt, id }: ArchivedEvent, { at, id: lastId }: Place): boolean {
  return createdAt > at || (createdAt === at && id > lastId)
}

type BatchRow = ReadUsageEvent & { outcome: 'charged' | 'released' }

/**
 * Reads released calls as well, which the caller filters out: a statement that skipped them could scan any number of
 * rows.
 */
async function readBatch(
  db: Database,
  {
    customerId,
    period: { timezone, fromAt, untilAt },
    last,
    lines,
  }: { customerId: string; period: UsagePeriod; last: Place | undefined; lines: readonly string[] },
): Promise<{ archivedUntil: string; rows: BatchRow[] }> {
  const behind = last
    ? sql`and (created_at, id) > (${last.at}::timestamptz, ${last.id}::uuid)`
    : sql``
  const stored = sql`
    select * from usage_events
    where customer_id = ${customerId} and settled_at >= archived_until()
      and created_at >= ${last?.at ?? fromAt}::timestamptz and created_at < ${untilAt}::timestamptz ${behind}
    order by created_at, id limit ${BATCH}`
  const events =
    lines.length === 0
      ? stored
      : sql`
        select * from ((${stored}) union all select * from ${eventsIn(lines)} archived) e
        order by created_at, id limit ${BATCH}`
  const { rows } = await sql<BatchRow & { archivedUntil: string }>`
    select archived_until()::text as "archivedUntil", r.* from (select) one left join (${selectUsageEvents<{
      outcome: 'charged' | 'released'
      localTime: string
    }>(
      events,
      'asc',
      sql`, e.outcome, to_char(e.created_at at time zone ${timezone}, 'DD/MM/YYYY HH24:MI:SS') as "localTime"`,
    )}) r on true
    order by r."createdAt", r.id`.execute(db)
  return {
    archivedUntil: (rows[0] as { archivedUntil: string }).archivedUntil,
    // Without rows it is one without values.
    rows: rows.filter(({ id }) => id !== null).map(withoutUntil),
  }
}

function withoutUntil(row: BatchRow & { archivedUntil?: string }): BatchRow {
  delete row.archivedUntil
  return row
}

/** Returns the state of each account as one line of JSON: it differs whenever the balance or the charges do. */
export async function readLiveAccounts(
  db: Database,
  customerIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const { rows } = await sql<{ id: string; balance: bigint; charged: bigint }>`
    select customer_id as id, credited_nano_brl - debited_nano_brl - charged_nano_brl as balance,
      charged_nano_brl as charged
    from accounts where customer_id = any(${customerIds}::uuid[])`.execute(db)
  return new Map(
    rows.map(({ id, balance, charged }) => [
      id,
      JSON.stringify({
        customer_id: id,
        balance_brl: jsonBrl(balance),
        charged_brl: jsonBrl(charged),
      }),
    ]),
  )
}
