/**
 * Counts the model calls of each customer that were answered with an error: in memory during requests, and in the
 * database seconds later. A node that is killed loses the counts of these seconds. Callers choose how much is counted, so
 * everything is bounded: the entries in memory, those of one account, and thereby the rows.
 */
import { sql } from 'kysely'
import type { Database } from '../../platform/db/open.ts'
import type { Log } from '../../platform/lib/log.ts'

/** Model calls of one customer, in one hour, that were answered with the same error. */
interface CountedRefusals {
  readonly customerId: string
  readonly hourMs: number
  /** Null if the account has used more keys and models in the hour than are counted one by one. */
  readonly keyId: string | null
  /** Of the catalog. */
  readonly modelId: string | null
  readonly code: string
  readonly status: number
  readonly refusals: number
  readonly firstMs: number
  readonly lastMs: number
}

/**
 * Adds the counts to their rows; returns the id of the transaction. All nodes write the rows in the same order, so that
 * they cannot deadlock. The counts of a deleted account are dropped: the lock waits for a running deletion. So are those
 * of a key that the database does not have, as after a failover: one of them would hold up all others.
 */
async function storeRefusals(trx: Database, counted: readonly CountedRefusals[]): Promise<string> {
  const of = <Field extends keyof CountedRefusals>(field: Field): CountedRefusals[Field][] =>
    counted.map((row) => row[field])
  const times = (field: 'hourMs' | 'firstMs' | 'lastMs'): string[] =>
    of(field).map((ms) => new Date(ms).toISOString())
  const { rows } = await sql<{ id: string }>`
    with found as (
      select c.id as customer_id, f.*
      from unnest(${of('customerId')}::uuid[], ${times('hourMs')}::timestamptz[], ${of('keyId')}::uuid[],
        ${of('modelId')}::text[], ${of('code')}::text[], ${of('status')}::int2[], ${of('refusals')}::int8[],
        ${times('firstMs')}::timestamptz[], ${times('lastMs')}::timestamptz[])
        as f(of_customer, hour_at, api_key_id, model_id, code, status, refusals, first_at, last_at)
      join customers c on c.id = f.of_customer
      where c.deleted_at is null
        and (f.api_key_id is null or exists (select 1 from api_keys k where k.id = f.api_key_id))
      order by c.id
      for key share of c
    ), stored as (
      insert into usage_refusals as stored
        (customer_id, hour_at, api_key_id, model_id, code, status, refusals, first_at, last_at)
      select customer_id, hour_at, api_key_id, model_id, code, status, refusals, first_at, last_at from found
      order by customer_id, hour_at, api_key_id, model_id, code, status
      on conflict (customer_id, hour_at, api_key_id, model_id, code, status) do update set
        refusals = stored.refusals + excluded.refusals,
        first_at = least(stored.first_at, excluded.first_at),
        last_at = greatest(stored.last_at, excluded.last_at)
    )
    select pg_current_xact_id()::text as id`.execute(trx)
  return (rows[0] as { id: string }).id
}

/** PostgreSQL does not know this transaction: a standby took over that never received it. */
const UNKNOWN_TRANSACTION = '22023'

/**
 * Whether a transaction was committed whose connection was lost during the commit. Undefined while it is in progress.
 * One so old that the database has forgotten it counts as committed.
 */
async function wasCommitted(db: Database, transactionId: string): Promise<boolean | undefined> {
  try {
    const { rows } = await sql<{ status: string | null }>`
      select pg_xact_status(${transactionId}::xid8) as status`.execute(db)
    const status = rows[0]?.status
    return status === 'in progress' ? undefined : status !== 'aborted'
  } catch (error) {
    if ((error as { code?: string }).code === UNKNOWN_TRANSACTION) return false
    throw error
  }
}

export interface RefusalNote {
  readonly customerId: string
  readonly keyId: string
  /** Of the catalog; undefined if the call named no model of it. */
  readonly modelId: string | undefined
  readonly code: string
  readonly status: number
}

export interface RefusalCounts {
  /** For the hot path: looks up a map. */
  note(note: RefusalNote): void
  /** Never rejects: after a failure the counts stay for the next flush, and the log has `refusals_flush_failed`. */
  flush(): Promise<void>
}

export interface RefusalCountLimits {
  /** Entries of one account, an entry for each hour, key, model, code and status; more count without their model. */
  readonly ownMax: number
  readonly max: number
  /** Rows of one statement. */
  readonly batch: number
}

/** Refusals cost nothing, so the rows of one account must be few even after 90 days of an attack: a request sums them. */
const LIMITS: RefusalCountLimits = { ownMax: 100, max: 20_000, batch: 2_000 }
const HOUR_MS = 3_600_000
const NONE = { refusals: 0, firstMs: Infinity, lastMs: 0 }

type Entry = { -readonly [Field in keyof CountedRefusals]: CountedRefusals[Field] }

/** A batch of which it is not known whether its commit succeeded. */
interface Doubt {
  readonly transactionId: string
  readonly rows: readonly (readonly [Entry, CountedRefusals])[]
}

export function createRefusalCounts(deps: {
  readonly db: Database
  readonly log: Log
  /** In ms since 1970. */
  readonly now?: () => number
  readonly limits?: RefusalCountLimits
}): RefusalCounts {
  const { db, log, now = Date.now, limits = LIMITS } = deps
  /** Of this hour, written ones too: so an account cannot have more rows by waiting for the next flush. */
  const entries = new Map<string, Entry>()
  /** The number of entries of each account. */
  const owned = new Map<string, number>()
  const waiting = new Set<Entry>()
  let doubt: Doubt | undefined
  let lost = 0
  /** The hour before which no entry is left. */
  let forgottenBeforeMs = 0
  let flushed = Promise.resolve()

  function hasRoom(customerId: string, factor: number): boolean {
    return (
      (owned.get(customerId) ?? 0) < limits.ownMax * factor && entries.size < limits.max * factor
    )
  }

  function findEntry(
    note: RefusalNote,
    hourMs: number,
    { keyId, modelId }: Pick<Entry, 'keyId' | 'modelId'>,
    hasRoomFor: (customerId: string) => boolean,
  ): Entry | undefined {
    const { customerId, code, status } = note
    const name = `${hourMs} ${customerId} ${keyId ?? ''} ${status} ${code} ${modelId ?? ''}`
    const found = entries.get(name)
    if (found || !hasRoomFor(customerId)) return found
    const made = {
      customerId,
      hourMs,
      keyId,
      modelId,
      code,
      status,
      ...NONE,
    }
    entries.set(name, made)
    owned.set(customerId, (owned.get(customerId) ?? 0) + 1)
    return made
  }

  /** Without room for the model its key alone is counted, and without room for that the account alone. */
  function entryOf(note: RefusalNote, hourMs: number): Entry | undefined {
    const { keyId, modelId = null } = note
    return (
      findEntry(note, hourMs, { keyId, modelId }, (id) => hasRoom(id, 1)) ??
      findEntry(note, hourMs, { keyId, modelId: null }, (id) => hasRoom(id, 2)) ??
      findEntry(note, hourMs, { keyId: null, modelId: null }, () => entries.size < limits.max * 3)
    )
  }

  function add(
    entry: Entry,
    { refusals, firstMs, lastMs }: Pick<Entry, 'refusals' | 'firstMs' | 'lastMs'>,
  ): void {
    entry.refusals += refusals
    entry.firstMs = Math.min(entry.firstMs, firstMs)
    entry.lastMs = Math.max(entry.lastMs, lastMs)
    waiting.add(entry)
  }

  function putBack({ rows }: Pick<Doubt, 'rows'>): void {
    for (const [entry, counted] of rows) add(entry, counted)
  }

  function takeBatch(): Doubt['rows'] {
    const rows: [Entry, CountedRefusals][] = []
    for (const entry of waiting) {
      if (rows.length === limits.batch) break
      waiting.delete(entry)
      rows.push([entry, { ...entry }])
      Object.assign(entry, NONE)
    }
    return rows
  }

  async function writeBatch(): Promise<void> {
    const rows = takeBatch()
    let transactionId: string | undefined
    try {
      await db.transaction().execute(async (trx) => {
        transactionId = await storeRefusals(
          trx,
          rows.map(([, counted]) => counted),
        )
      })
    } catch (error) {
      if (transactionId === undefined) putBack({ rows })
      else doubt = { transactionId, rows }
      throw error
    }
  }

  /** False while the database does not know it itself. */
  async function settleDoubt(): Promise<boolean> {
    if (!doubt) return true
    const isCommitted = await wasCommitted(db, doubt.transactionId)
    if (isCommitted === undefined) return false
    if (!isCommitted) putBack(doubt)
    doubt = undefined
    return true
  }

  function forgetPastHours(): void {
    const hourMs = hourOf(now())
    if (hourMs === forgottenBeforeMs) return
    forgottenBeforeMs = hourMs
    for (const [name, entry] of entries) {
      if (entry.hourMs === hourMs) continue
      if (entry.refusals > 0) {
        // Noted at the very end of its hour.
        forgottenBeforeMs = 0
        continue
      }
      entries.delete(name)
      const left = (owned.get(entry.customerId) ?? 1) - 1
      if (left > 0) owned.set(entry.customerId, left)
      else owned.delete(entry.customerId)
    }
  }

  async function write(): Promise<void> {
    if (lost > 0) log.warn('refusals_not_counted', { refusals: lost })
    lost = 0
    try {
      if (!(await settleDoubt())) return
      const batches = Math.ceil(waiting.size / limits.batch)
      for (let batch = 0; batch < batches; batch++) await writeBatch()
      forgetPastHours()
    } catch (error) {
      log.warn('refusals_flush_failed', { counts: waiting.size, error })
    }
  }

  return {
    note(note) {
      const nowMs = now()
      const entry = entryOf(note, hourOf(nowMs))
      if (entry) add(entry, { refusals: 1, firstMs: nowMs, lastMs: nowMs })
      else lost += 1
    },
    flush() {
      flushed = flushed.then(write)
      return flushed
    },
  }
}

function hourOf(ms: number): number {
  return ms - (ms % HOUR_MS)
}
