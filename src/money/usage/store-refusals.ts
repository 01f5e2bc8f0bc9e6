import { sql } from 'kysely'
import type { Database } from '../../platform/db/open.ts'

/** Model calls of one customer, in one hour, that were answered with the same error. */
export interface CountedRefusals {
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
export async function storeRefusals(
  trx: Database,
  counted: readonly CountedRefusals[],
): Promise<string> {
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
export async function wasCommitted(
  db: Database,
  transactionId: string,
): Promise<boolean | undefined> {
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
