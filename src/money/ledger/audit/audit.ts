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
import { planForSlices, sliceChecks, type Slice } from './audit-seals.ts'
import { proveArchived, type ArchivedMonthProof } from './prove-archived.ts'
import { paced, proveSeals } from './prove-seals.ts'
import { KEPT_DAYS } from '../prune-tasks.ts'

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
 * Checks the books. `more` are checks of rooms that the ledger does not know. If `db` is a transaction, the audit runs
 * inside it and proves its snapshot.
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

/** Runs the work inside the transaction `db`, or in a new snapshot. */
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

/**
 * Checks of limits: those of keys and teams are the ones that the last act set, by the audit log, and the rows that count
 * them are there and whole. A full audit runs these.
 */
function limitChecks({ of, within }: AuditScope): Checks {
  return {
    // Acts of more than six years ago are deleted; an act that changed no limit has none.
    'the limits of keys and teams are those that their last act set': sql`
      select id, action, limits from (
        select distinct on (subject_id) subject_id::uuid as id, action, details -> 'limits' as limits from audit_log
        where action in ('api_key.created', 'api_key.changed', 'team.created', 'team.changed')
          and details ? 'limits' and ${within(sql`customer_id`)}
        order by subject_id, (details -> 'limits' ->> 'at')::timestamptz desc
      ) l where limits - 'at' is distinct from limits_of(id) - 'at'`,
    'a key knows whether it has a budget and caps, and is of a team of its customer': sql`
      select k.id, k.has_budget, k.has_caps, k.team_id from ${of('api_keys')} k left join teams t on t.id = k.team_id
      where k.has_budget <> exists (select from api_key_budgets b where b.api_key_id = k.id)
        or k.has_caps <> exists (select from key_caps c where c.api_key_id = k.id)
        or (k.team_id is not null and t.customer_id is distinct from k.customer_id)`,
    'a key that was revoked stays so': sql`
      select k.id from ${of('api_keys')} k
      join ${of('audit_log')} l on l.customer_id = k.customer_id and l.subject_id = k.id::text and l.action = 'api_key.revoked'
      where k.revoked_at is null`,
    'every team has its cap, and every budget and cap counts from the start of a period': sql`
      select b.* from (
        select t.customer_id, t.id, 'month' as period, b.timezone, b.period_started_at from teams t left join team_budgets b on b.team_id = t.id
        union all select k.customer_id, k.id, b.period, b.timezone, b.period_started_at from api_keys k join api_key_budgets b on b.api_key_id = k.id
        union all select k.customer_id, k.id, b.period, b.timezone, b.period_started_at from api_keys k join key_caps b on b.api_key_id = k.id
      ) b where ${within(sql`b.customer_id`)} and (b.timezone is null or isfinite(b.period_started_at)
        and b.period_started_at <> budget_period_start(b.period, b.timezone, b.period_started_at))`,
    // The cap that holds is the key's; a task has a copy of its last hold, until the key changes.
    'every capped task is counted, with the cap of its key, until it rests': sql`
      select api_key_id, session_id, t.limit_nano_brl, e.last_at from ${of('task_spends')} t
      full join (
        select api_key_id, session_id collate "C" as session_id, max(created_at) as last_at from usage_events
        where in_caps & 4 <> 0 and session_id is not null and corrects_id is null and ${within(sql`customer_id`)} group by 1, 2
      ) e using (api_key_id, session_id)
      join api_keys k on k.id = api_key_id join customers u on u.id = k.customer_id and u.deleted_at is null
      where (t.customer_id is null and e.last_at > now() - make_interval(days => ${KEPT_DAYS}))
        or t.customer_id <> k.customer_id or t.last_held_at < e.last_at
        or (t.limit_nano_brl is distinct from k.task_limit_nano_brl and t.customer_id is not null and not exists (
          select from audit_log l where l.customer_id = k.customer_id and l.subject_id = k.id::text
            and l.action = 'api_key.changed' and l.created_at > t.last_held_at))`,
    "an open hold is its key's, and has a stored price and exchange rate": sql`
      select h.id from ${of('holds')} h left join prices p on p.id = h.price_id left join fx_rates f on f.id = h.fx_rate_id
      left join api_keys k on k.id = h.api_key_id
      where p.id is null or f.rate_e4 is distinct from h.fx_rate_e4
        or (h.customer_id, h.team_id) is distinct from (k.customer_id, k.team_id)`,
    'every customer has an account': sql`
      select c.id from customers c left join accounts a on a.customer_id = c.id where a.customer_id is null and ${within(sql`c.id`)}`,
  }
}
