/**
 * Proves the ledger from its rows. Each check is one query for the rows that break an invariant; see
 * `audit-event-checks.ts`, `audit-debt-checks.ts` and `audit-balance-checks.ts`.
 *
 * Sealed time (`audit-seals.ts`) was proved event by event when it was sealed, and counts by its sums. Unsealed events
 * are read together with the accounts, in chunks of customers, each in one short snapshot: every comparison is within
 * one customer. Sealed rows are read again, all of them or a share, and compared with their hashes; those of archived
 * months (`prove-archived.ts`) by a full audit, from their files.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import type { EventArchive } from '../../../platform/archive/event-archive.ts'
import type { Database } from '../../../platform/db/open.ts'
import { allSessions, balanceChecks } from './audit-balance-checks.ts'
import type { Checks } from './audit-event-checks.ts'
import { ALL_CUSTOMERS, auditScope, readSealedUntil, type AuditScope } from './audit-scope.ts'
import { limitChecks } from './audit-limit-checks.ts'
import { planForSlices, sliceChecks, type Slice } from './audit-seals.ts'
import { proveArchived, type ArchivedMonthProof } from './prove-archived.ts'
import { paced, proveSeals } from './prove-seals.ts'

export interface AuditCheck {
  readonly name: string
  readonly ok: boolean
  /** At most ten rows that break the invariant. */
  readonly breaches: readonly unknown[]
}

export interface AuditReport {
  readonly ok: boolean
  readonly checks: readonly AuditCheck[]
  /**
   * The last seal; undefined without one. Its hash covers all sealed rows: a copy that is kept elsewhere shows
   * later changes to them.
   */
  readonly seal:
    | { readonly number: bigint; readonly until: string; readonly hash: string }
    | undefined
  /** The months whose events are in files. */
  readonly archived: readonly ArchivedMonthProof[]
  readonly counts: {
    readonly charges: number
    readonly releases: number
    readonly openHolds: number
    readonly customers: number
    /** Accounts below zero; `account_debts` has the causes. */
    readonly debts: number
  }
}

export interface AuditOptions {
  /** Reads all sealed rows again. */
  readonly isFull?: boolean
  /** Otherwise it reads about this many sealed events again, every day others. Default: none. */
  readonly eventsAgain?: number
  /** The share of one core of the database that the audit may use. */
  readonly share?: number
  /** Where a full audit reads archived months. */
  readonly archive?: EventArchive | undefined
}

const BREACHES_MAX = 10
/**
 * The aim for a chunk of customers: one that takes longer is halved the next time, and one that takes less than half is
 * doubled. The first chunk is one customer, who may have a million rows.
 */
const CHUNK_MS = 1_000
/** Unsealed time is proved in slices of at least five seconds. */
const OPEN_SLICES_MAX = 400

/**
 * `more`: checks of rooms that the ledger does not know. If `db` is a transaction, the audit runs inside it and proves
 * its snapshot.
 */
export async function audit(
  db: Database,
  more: Checks = {},
  { isFull = false, eventsAgain = 0, share = 1, archive }: AuditOptions = {},
): Promise<AuditReport> {
  const found = new Map<string, unknown[]>()
  const run = async (trx: Database, checks: Checks): Promise<void> => {
    for (const [name, query] of Object.entries(checks)) {
      const breaches = found.get(name) ?? []
      found.set(name, breaches)
      if (breaches.length >= BREACHES_MAX) continue
      const { rows } =
        await sql`select * from (${query}) breaches limit ${BREACHES_MAX - breaches.length}`.execute(
          trx,
        )
      breaches.push(...rows)
    }
  }
  await eachCustomerChunk(db, share, async (trx, scope) => {
    await run(trx, balanceChecks(scope))
    if (isFull) await run(trx, { ...allSessions(scope), ...limitChecks(scope) })
  })
  for (const slice of await openSlices(db))
    await paced(share, () => inStatements(db, (trx) => run(trx, sliceChecks(slice))))
  await proveSeals(db, { eventsAgain: isFull ? Number.POSITIVE_INFINITY : eventsAgain, share, run })
  const archived = await proveArchived(db, { archive, isFull, run })
  const counts = await inSnapshot(db, async (trx) => {
    await run(trx, more)
    return count(trx)
  })
  const checks = [...found].map(([name, breaches]) => ({
    name,
    ok: breaches.length === 0,
    breaches,
  }))
  const seal = await readLastSeal(db)
  return { ok: checks.every((check) => check.ok), checks, seal, archived, counts }
}

/** Inside the transaction `db`, or in a new snapshot. */
export function inSnapshot<Result>(
  db: Database,
  work: (trx: Database) => Promise<Result>,
): Promise<Result> {
  if (db.isTransaction) return work(db)
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (trx) => {
      // A large customer takes longer to prove than a request may take.
      await sql`set local statement_timeout = 0`.execute(trx)
      // A share of at most one core.
      await sql`set local max_parallel_workers_per_gather = 0`.execute(trx)
      return work(trx)
    })
}

/** Inside the transaction `db`, or in a new one in which each statement has its own snapshot. */
function inStatements(db: Database, work: (trx: Database) => Promise<void>): Promise<void> {
  if (db.isTransaction) return work(db)
  return db.transaction().execute(async (trx) => {
    await sql`set local statement_timeout = 0`.execute(trx)
    await planForSlices(trx)
    await work(trx)
  })
}

/** Checks the customers in chunks, each in a short snapshot, with pauses in between that keep calls fast. */
async function eachCustomerChunk(
  db: Database,
  share: number,
  work: (trx: Database, scope: AuditScope) => Promise<void>,
): Promise<void> {
  if (db.isTransaction) return work(db, auditScope(await readSealedUntil(db), ALL_CUSTOMERS))
  let after: string | null = null
  let size = 1
  for (;;) {
    const startedMs = performance.now()
    const upTo: string | null = await inSnapshot(db, async (trx) => {
      const end = await chunkEnd(trx, after, size)
      await work(trx, auditScope(await readSealedUntil(trx), { after, upTo: end }))
      return end
    })
    if (upTo === null) return
    after = upTo
    const elapsedMs = performance.now() - startedMs
    if (elapsedMs > CHUNK_MS) size = Math.max(1, Math.floor(size / 2))
    else if (2 * elapsedMs < CHUNK_MS) size *= 2
    await sleep(elapsedMs * (1 / share - 1))
  }
}

/** The last customer of the chunk; null for the last chunk. */
async function chunkEnd(db: Database, after: string | null, size: number): Promise<string | null> {
  const { rows } = await sql<{ customer_id: string }>`
    select customer_id from accounts
    where ${after === null ? sql`true` : sql`customer_id > ${after}::uuid`}
    order by customer_id offset ${size - 1} limit 1`.execute(db)
  return rows[0]?.customer_id ?? null
}

/** Unsealed time: about a minute, right after sealing. */
async function openSlices(db: Database): Promise<Slice[]> {
  const from = await readSealedUntil(db)
  if (from === '-infinity' || db.isTransaction) return [{ fromAt: from, toAt: 'infinity' }]
  const { rows } = await sql<{ from_at: string; to_at: string }>`
    select at::text as from_at, coalesce(lead(at) over (order by at), 'infinity')::text as to_at
    from generate_series(${from}::timestamptz, greatest(now(), ${from}::timestamptz),
      greatest(interval '5 seconds', (now() - ${from}::timestamptz) / ${OPEN_SLICES_MAX}::float8)) as at`.execute(
    db,
  )
  return rows.map(({ from_at, to_at }) => ({ fromAt: from_at, toAt: to_at }))
}

async function readLastSeal(db: Database): Promise<AuditReport['seal']> {
  const { rows } = await sql<NonNullable<AuditReport['seal']>>`
    select number, to_at::text as until, encode(hash, 'hex') as hash
    from audit_seals order by number desc limit 1`.execute(db)
  return rows[0]
}

async function count(db: Database): Promise<AuditReport['counts']> {
  const { sums } = auditScope(await readSealedUntil(db), ALL_CUSTOMERS)
  const { rows } = await sql<{
    charges: bigint
    releases: bigint
    holds: bigint
    customers: bigint
    debts: bigint
  }>`
    select
      (select coalesce(sum(s.charged), 0)::int8 from ${sums} s) as charges,
      (select coalesce(sum(s.released), 0)::int8 from ${sums} s) as releases,
      (select count(*) from holds) as holds,
      (select count(*) from customers) as customers,
      (select count(*) from accounts where credited_nano_brl - debited_nano_brl - charged_nano_brl < 0) as debts`.execute(
    db,
  )
  const row = rows[0] as {
    charges: bigint
    releases: bigint
    holds: bigint
    customers: bigint
    debts: bigint
  }
  return {
    charges: Number(row.charges),
    releases: Number(row.releases),
    openHolds: Number(row.holds),
    customers: Number(row.customers),
    debts: Number(row.debts),
  }
}
