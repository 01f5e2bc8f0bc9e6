/**
 * Proves the ledger from its rows, in one snapshot. Each check is one query that lists what breaks an
 * invariant; see `audit-event-checks.ts`, `audit-debt-checks.ts` and `audit-balance-checks.ts`.
 */
import { sql } from 'kysely'
import type { Database } from '../db/open.ts'
import { balanceChecks } from './audit-balance-checks.ts'
import { debtChecks } from './audit-debt-checks.ts'
import { correctionChecks, eventChecks, type Checks } from './audit-event-checks.ts'

export interface AuditCheck {
  readonly name: string
  readonly ok: boolean
  /** At most ten rows that break it. */
  readonly breaches: readonly unknown[]
}

export interface AuditReport {
  readonly ok: boolean
  readonly checks: readonly AuditCheck[]
  readonly counts: {
    readonly charges: number
    readonly releases: number
    readonly openHolds: number
    readonly customers: number
    /** Accounts below zero: an upstream reported more than the ceiling it was given. */
    readonly debts: number
  }
}

const BREACHES_MAX = 10

/**
 * `more`: checks of rooms that the ledger does not know. Within the transaction that `db` is, where it is one: then it
 * proves what that one sees.
 */
export function audit(db: Database, more: Checks = {}): Promise<AuditReport> {
  if (db.isTransaction) return prove(db, more)
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute((trx) => prove(trx, more))
}

async function prove(trx: Database, more: Checks): Promise<AuditReport> {
  // A large history takes longer to prove than a request may take.
  await sql`set local statement_timeout = 0`.execute(trx)
  const checks: AuditCheck[] = []
  for (const [name, query] of Object.entries({
    ...balanceChecks(),
    ...debtChecks(sql`account_debts`),
    ...eventChecks(sql`usage_events`),
    ...correctionChecks(sql`charge_corrections`),
    ...(await discrepancyChecks(trx)),
    ...more,
  })) {
    const { rows } = await sql`select * from (${query}) breaches limit ${BREACHES_MAX}`.execute(trx)
    checks.push({ name, ok: rows.length === 0, breaches: rows })
  }
  return { ok: checks.every((check) => check.ok), checks, counts: await count(trx) }
}

/** Nodes keep a note of answers that they delivered: those without their charge are open discrepancies. */
async function discrepancyChecks(db: Database): Promise<Checks> {
  const { rows } = await sql<{ is_there: boolean }>`
    select to_regclass('delivery_discrepancies') is not null as is_there`.execute(db)
  if (!rows[0]?.is_there) return {}
  return {
    'what was delivered was charged': sql`
      select d.* from delivery_discrepancies d where to_jsonb(d) ->> 'resolved_at' is null`,
  }
}

async function count(db: Database): Promise<AuditReport['counts']> {
  const { rows } = await sql<{
    charges: bigint
    releases: bigint
    holds: bigint
    customers: bigint
    debts: bigint
  }>`
    select
      (select coalesce(sum(event_charges(outcome, reason)), 0)::int8 from usage_events) as charges,
      (select count(*) from usage_events where outcome = 'released') as releases,
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
