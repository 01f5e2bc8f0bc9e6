import { sql } from 'kysely'
import { exactTime } from '../../platform/db/exact-time.ts'
import type { Database } from '../../platform/db/open.ts'
import { completeUntil, SEAL_MARGIN_SECONDS } from '../../money/ledger/audit/audit-seals.ts'
import { selectUsageEvents, type UsageEvent } from '../../money/usage/usage-event.ts'
import { NO_EVENT } from './usage-destinations.ts'

/** A charge as it is sent. */
export interface SentEvent extends UsageEvent {
  readonly isStream: boolean
  /** Takes back the charge that it corrects: its amounts are negative. */
  readonly isReversal: boolean
  readonly firstByteMs: number | null
  readonly durationMs: number | null
  /** To the microsecond, see `exactTime`. */
  readonly settledAt: string
}

/** The place of a destination in the charges of its customer, in the order of `settled_at` and `id`. */
export interface Place {
  /** To the microsecond, see `exactTime`. */
  readonly sentUntil: string
  readonly sentId: string
}

export interface Unsent {
  readonly events: readonly SentEvent[]
  /** Where the destination is when these are sent. */
  readonly end: Place
  readonly isLast: boolean
}

/**
 * Charges are found by the time of their settlement, in the order of the pages of the table, where those of all customers
 * are: a long time is read in parts, so that a statement reads little.
 */
const PART_SECONDS = 600
const PART_SECONDS_MAX = 86_400
/** What began earlier is not read: no call, and no outage that delays its settlement, lasts for so long. */
const CALL_DAYS_MAX = 40

/** Returns the next charges, up to `limit`; none before `until` is missed, because all of those are visible. */
export async function readUnsent(
  db: Database,
  customerId: string,
  place: Place,
  { until, limit }: { readonly until: string; readonly limit: number },
): Promise<Unsent> {
  let from = place
  for (let seconds = PART_SECONDS; ; seconds = Math.min(seconds * 2, PART_SECONDS_MAX)) {
    // Another node may have read a later end of complete time.
    if (until <= from.sentUntil) return { events: [], end: from, isLast: true }
    const { to, isLast } = endOfPart(from.sentUntil, until, seconds)
    const events = await readPart(db, customerId, from, to, limit)
    const last = events.at(-1)
    if (last && events.length === limit)
      return { events, end: { sentUntil: last.settledAt, sentId: last.id }, isLast: false }
    const end = { sentUntil: to, sentId: NO_EVENT }
    if (last || isLast) return { events, end, isLast }
    from = end
  }
}

/** Exact times have one form, so their order is that of their texts. */
function endOfPart(from: string, until: string, seconds: number): { to: string; isLast: boolean } {
  const to = `${new Date(Date.parse(from) + seconds * 1_000).toISOString().slice(0, 23)}000Z`
  return to < until ? { to, isLast: false } : { to: until, isLast: true }
}

async function readPart(
  db: Database,
  customerId: string,
  { sentUntil, sentId }: Place,
  to: string,
  limit: number,
): Promise<SentEvent[]> {
  const next = sql`
    select * from usage_events
    where customer_id = ${customerId} and outcome = 'charged'
      and settled_at >= ${sentUntil}::timestamptz and settled_at < ${to}::timestamptz
      and (settled_at, id) > (${sentUntil}::timestamptz, ${sentId}::uuid)
      and created_at >= ${sentUntil}::timestamptz - make_interval(days => ${CALL_DAYS_MAX})
    order by settled_at, id limit ${limit}`
  const { rows } = await selectUsageEvents<Omit<SentEvent, keyof UsageEvent>>(
    next,
    'asc',
    sql`, e.is_stream as "isStream", e.reason is not distinct from 'reversal' as "isReversal",
      e.first_byte_ms as "firstByteMs", e.duration_ms as "durationMs",
      ${exactTime('e.settled_at')} as "settledAt"`,
  ).execute(db)
  return rows.toSorted((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1))
}

function placeOf({ settledAt, id }: SentEvent): string {
  return `${settledAt} ${id}`
}

/** Counts the charges after the place that were settled before `before`, and so are too old to be sent. */
export async function countGivenUp(
  db: Database,
  customerId: string,
  { sentUntil, sentId }: Place,
  before: string,
): Promise<bigint> {
  const { rows } = await sql<{ count: bigint }>`
    select count(*) as count from usage_events
    where customer_id = ${customerId} and outcome = 'charged'
      and created_at >= ${sentUntil}::timestamptz - make_interval(days => ${CALL_DAYS_MAX})
      and settled_at < ${before}::timestamptz
      and (settled_at, id) > (${sentUntil}::timestamptz, ${sentId}::uuid)`.execute(db)
  return rows[0]?.count ?? 0n
}

/** Returns the end of complete time, as an exact time: no charge that is committed later is settled before it. */
export type CompleteTime = () => Promise<string>

/** An older end stays valid, so one reading serves many destinations. */
const READ_EVERY_MS = 5_000

export function createCompleteTime(
  db: Database,
  {
    marginSeconds = SEAL_MARGIN_SECONDS,
    readEveryMs = READ_EVERY_MS,
  }: { readonly marginSeconds?: number | undefined; readonly readEveryMs?: number | undefined },
): CompleteTime {
  let reading: Promise<string> | undefined
  let readAtMs = -Infinity
  return () => {
    if (reading && performance.now() - readAtMs < readEveryMs) return reading
    readAtMs = performance.now()
    const now = readCompleteTime(db, marginSeconds)
    reading = now
    now.catch(() => {
      if (reading === now) reading = undefined
    })
    return now
  }
}

async function readCompleteTime(db: Database, marginSeconds: number): Promise<string> {
  const until = await completeUntil(db, marginSeconds)
  const { rows } = await sql<{ until: string }>`
    select ${exactTime('t.until')} as until from (select ${until}::timestamptz as until) t`.execute(
    db,
  )
  return (rows[0] as { until: string }).until
}
