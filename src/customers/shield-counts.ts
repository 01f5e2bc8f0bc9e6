/**
 * Counts what the shield found, by customer, key, day and kind: in memory during requests, and in the database some
 * seconds later. It never sees a value. A node that is killed loses the counts of these seconds.
 */
import { sql } from 'kysely'
import type { Database } from '../platform/db/open.ts'
import type { Log } from '../platform/lib/log.ts'
import type { Counts } from './shield-setting.ts'

/** Longer than the longest period of a report. */
const DAYS_KEPT = 400

/** Deletes counts that no report can reach any more; returns the number of deleted rows. */
export async function pruneShieldCounts(db: Database): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    delete from shield_counts where day < (now() - make_interval(days => ${DAYS_KEPT}))::date`.execute(
    db,
  )
  return Number(numAffectedRows)
}

export interface ShieldNote {
  readonly keyId: string
  /** `mask`: sent with placeholders; `block`: refused. */
  readonly action: 'mask' | 'block'
  readonly counts: Counts
}

export interface ShieldCounts {
  /** For the hot path: writes to a map. */
  note(note: ShieldNote): void
  /** Never rejects: after a failure the counts stay for the next flush, and the log has `shield_counts_flush_failed`. */
  flush(): Promise<void>
}

interface Entry {
  readonly keyId: string
  readonly action: string
  readonly kind: string
  occurrences: number
}

export function createShieldCounts(deps: {
  readonly db: Database
  readonly log: Log
}): ShieldCounts {
  const { db, log } = deps
  /** At most one entry per key, action and kind. */
  let pending = new Map<string, Entry>()
  let flushed = Promise.resolve()

  function add({ keyId, action, kind, occurrences }: Entry): void {
    const name = `${keyId} ${action} ${kind}`
    const entry = pending.get(name)
    if (entry) entry.occurrences += occurrences
    else pending.set(name, { keyId, action, kind, occurrences })
  }

  async function write(): Promise<void> {
    if (pending.size === 0) return
    const taken = [...pending.values()]
    pending = new Map()
    try {
      await storeCounts(db, taken)
    } catch (error) {
      log.warn('shield_counts_flush_failed', { counts: taken.length, error })
      for (const entry of taken) add(entry)
    }
  }

  return {
    note({ keyId, action, counts }) {
      for (const [kind, occurrences] of Object.entries(counts))
        add({ keyId, action, kind, occurrences })
    },
    flush() {
      flushed = flushed.then(write)
      return flushed
    },
  }
}

/**
 * All nodes write the rows in the same order, so that they cannot deadlock. The counts of a deleted account are dropped:
 * the lock waits for a running deletion.
 */
async function storeCounts(db: Database, entries: readonly Entry[]): Promise<void> {
  const of = <Field extends keyof Entry>(field: Field): Entry[Field][] =>
    entries.map((entry) => entry[field])
  await sql`
    with found as (
      select k.customer_id, k.id, (now() at time zone c.timezone)::date as day, f.action, f.kind, f.occurrences
      from unnest(${of('keyId')}::uuid[], ${of('action')}::text[], ${of('kind')}::text[], ${of('occurrences')}::int8[])
        as f(key_id, action, kind, occurrences)
      join api_keys k on k.id = f.key_id
      join customers c on c.id = k.customer_id
      where c.deleted_at is null
      order by k.customer_id, k.id, f.action, f.kind
      for key share of c
    )
    insert into shield_counts as stored (customer_id, api_key_id, day, action, kind, occurrences)
    select customer_id, id, day, action, kind, occurrences from found
    order by customer_id, day, id, action, kind
    on conflict (customer_id, day, api_key_id, action, kind) do update set
      occurrences = stored.occurrences + excluded.occurrences`.execute(db)
}

/** How many values were sent masked, and how many stood in requests that were blocked. */
interface ShieldSums {
  readonly masked: number
  readonly blocked: number
}

interface ShieldReport {
  readonly byKind: readonly (ShieldSums & { readonly kind: string })[]
  /** `YYYY-MM-DD` in the customer's time zone, the oldest first; days without findings are left out. */
  readonly byDay: readonly (ShieldSums & { readonly day: string })[]
  /** The key with the most findings first. */
  readonly byKey: readonly (ShieldSums & { readonly keyId: string; readonly name: string })[]
}

interface Row extends ShieldSums {
  kind: string | null
  day: string | null
  api_key_id: string | null
  name: string | null
}

/** Sums the last `days` days, today included. */
export async function sumShieldCounts(
  db: Database,
  customerId: string,
  days: number,
): Promise<ShieldReport> {
  const { rows } = await sql<Row>`
    with sums as (
      select s.kind, s.day, s.api_key_id,
        coalesce(sum(s.occurrences) filter (where s.action = 'mask'), 0)::float8 as masked,
        coalesce(sum(s.occurrences) filter (where s.action = 'block'), 0)::float8 as blocked
      from shield_counts s join customers c on c.id = s.customer_id
      where s.customer_id = ${customerId} and s.day > (now() at time zone c.timezone)::date - ${days}::int4
      group by grouping sets ((s.kind), (s.day), (s.api_key_id))
    )
    select sums.kind, sums.day::text as day, sums.api_key_id, k.name, masked, blocked
    from sums left join api_keys k on k.id = sums.api_key_id
    order by day, masked + blocked desc, kind, api_key_id`.execute(db)
  return {
    byKind: rows.flatMap(({ kind, masked, blocked }) => (kind ? [{ kind, masked, blocked }] : [])),
    byDay: rows.flatMap(({ day, masked, blocked }) => (day ? [{ day, masked, blocked }] : [])),
    byKey: rows.flatMap(({ api_key_id: keyId, name, masked, blocked }) =>
      keyId && name !== null ? [{ keyId, name, masked, blocked }] : [],
    ),
  }
}
