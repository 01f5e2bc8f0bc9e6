import { sql } from 'kysely'
import type { Database } from '../db/open.ts'
import { listJobs, readQueues, type QueueState } from './read-queues.ts'

/** The work and the faults that wait in the database, for the metrics. */
export interface Backlog extends BacklogNumbers {
  readonly queues: readonly QueueState[]
  /** 1 for a scheduled job whose last run failed after every retry. */
  readonly failing: ReadonlyMap<string, 0 | 1>
}

export interface BacklogNumbers {
  /** Open holds of all nodes. */
  readonly holds: number
  readonly oldestHoldSeconds: number
  /** Holds whose node was fenced, stopped, or is silent for longer than its lease. */
  readonly orphanedHolds: number
  readonly oldestOrphanedHoldSeconds: number
  readonly nodesAlive: number
  /** Neither stopped nor fenced, but silent for longer than their lease. */
  readonly nodesSilent: number
  readonly accountsInDebt: number
  readonly debtBrl: number
  readonly deliveryDiscrepancies: number
  /** Slices of settled charges whose check found a breach when they were sealed. */
  readonly breachedSeals: number
  /** Destinations of usage that failed last, and those that were switched off because of it. */
  readonly failingDestinations: number
  /** Of customers who deleted the account: refunds to transfer by hand, and money of a week that left the account late. */
  readonly owedByDeletedAccounts: number
}

export async function readBacklog(db: Database, leaseSeconds: number): Promise<Backlog> {
  const [queues, jobs, { rows }] = await Promise.all([
    readQueues(db),
    listJobs(db),
    numbersQuery(leaseSeconds).execute(db),
  ])
  const failing = new Map(
    jobs.map(({ name, lastCompletedAt, lastFailedAt }) => {
      const hasFailed = lastFailedAt !== null && (lastCompletedAt ?? 0) < lastFailedAt
      return [name, hasFailed ? 1 : 0] as const
    }),
  )
  return { ...(rows[0] as BacklogNumbers), queues, failing }
}

function numbersQuery(leaseSeconds: number) {
  return sql<BacklogNumbers>`
    with live as (
      select id, seen_at > now() - make_interval(secs => ${leaseSeconds}) as is_heard
      from nodes where stopped_at is null and fenced_at is null
    ), open as (
      select extract(epoch from now() - h.created_at) as age,
        coalesce(n.is_heard, false) or v.id is not null as is_cared_for, v.id is not null as is_of_video
      from holds h left join live n on n.id = h.node_id
      -- Videos take minutes to hours; one that no job asks for any more is as old as it is.
      left join videos v on v.id = h.id and v.due_at > now() - interval '10 minutes'
    ), debts as (
      select sum(amount_nano_brl) as debt from account_debts group by customer_id
    )
    select (select count(*) from open)::int4 as "holds",
      (select coalesce(max(age), 0) from open where not is_of_video)::float8 as "oldestHoldSeconds",
      (select count(*) from open where not is_cared_for)::int4 as "orphanedHolds",
      (select coalesce(max(age), 0) from open where not is_cared_for)::float8 as "oldestOrphanedHoldSeconds",
      (select count(*) from live where is_heard)::int4 as "nodesAlive",
      (select count(*) from live where not is_heard)::int4 as "nodesSilent",
      (select count(*) from debts where debt > 0)::int4 as "accountsInDebt",
      (select coalesce(sum(debt) filter (where debt > 0), 0) / 1e9 from debts)::float8 as "debtBrl",
      (select count(*) from delivery_discrepancies where resolved_at is null)::int4 as "deliveryDiscrepancies",
      (select count(*) from audit_seals where breaches <> '{}')::int4 as "breachedSeals",
      (select count(*) from usage_destinations where failing_since is not null or disabled_reason = 'failing')::int4
        as "failingDestinations",
      ((select count(*) from refund_parts p join refunds r on r.id = p.refund_id
          join customers c on c.id = r.customer_id and c.deleted_at is not null
          where p.is_manual and p.status = 'waiting')
        + (select count(*) from ledger_entries where reason = 'account_closed' and kind = 'debit'
          and reference <> customer_id::text and created_at > now() - interval '7 days'))::int4
        as "owedByDeletedAccounts"`
}
