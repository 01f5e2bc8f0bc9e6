/**
 * Paused keys: refused for model calls and REST until somebody lifts the pause. A pause changes the key's version, so a
 * node with a stale copy cannot hold money. Each node cuts off the calls that still run, as soon as it finds their keys here.
 */
import { sql, type RawBuilder } from 'kysely'
import type { Database } from '../platform/db/open.ts'
import { API_KEY_CHANNEL } from './api-keys.ts'
import type { PauseReason } from '../platform/db/tables.ts'

export interface ChangedPause {
  readonly id: string
  readonly customerId: string
  readonly name: string
  readonly lastFour: string
  /** After the change; null: the key is active. */
  readonly pausedReason: PauseReason | null
}

/** Beside an operator's, from the weakest to the strongest. */
const OWN_REASONS = ['anomaly', 'owner', 'leaked'] as const

/**
 * Pauses those of these keys that are not revoked, and returns them. A key that is paused already gets the stronger
 * reason, and is left out if it has this reason or a stronger one. Under an operator's pause the pause waits, and
 * remains when the operator lifts theirs.
 */
export function pauseKeys(
  trx: Database,
  wanted: { readonly keyId: string } | { readonly customerId: string; readonly keyId?: string },
  reason: (typeof OWN_REASONS)[number],
): Promise<ChangedPause[]> {
  const { customerId, keyId } = { customerId: undefined, keyId: undefined, ...wanted }
  const ofCustomer = customerId === undefined ? sql`true` : sql`customer_id = ${customerId}`
  const isOne = keyId === undefined ? sql`true` : sql`id = ${keyId}`
  const weaker = OWN_REASONS.slice(0, OWN_REASONS.indexOf(reason))
  const own = sql`case when paused_reason = 'operator' then paused_before else paused_reason end`
  return change(
    trx,
    sql`${ofCustomer} and ${isOne} and revoked_at is null
      and (${own} is null or ${own} = any(${weaker}::text[]))`,
    sql`paused_at = coalesce(paused_at, now()),
      paused_reason = case when paused_reason = 'operator' then 'operator' else ${reason} end,
      paused_before = case when paused_reason = 'operator' then ${reason} end`,
  )
}

/** An operator's pause goes over the owner's, which `resumeByOperator` puts back. */
export function pauseByOperator(
  trx: Database,
  { keyId }: { readonly keyId: string },
): Promise<ChangedPause[]> {
  return change(
    trx,
    sql`id = ${keyId} and revoked_at is null and paused_reason is distinct from 'operator'`,
    sql`paused_before = paused_reason, paused_reason = 'operator', paused_at = now()`,
  )
}

/** Lifts an operator's pause, and no other. */
export function resumeByOperator(
  trx: Database,
  { keyId }: { readonly keyId: string },
): Promise<ChangedPause[]> {
  return change(
    trx,
    sql`id = ${keyId} and paused_reason = 'operator'`,
    sql`paused_reason = paused_before, paused_before = null,
      paused_at = case when paused_before is null then null else paused_at end`,
  )
}

/** Lifts the pause of a key. Returns nothing for a key that is not paused, or was paused by an operator. */
export function resumeKeys(
  trx: Database,
  { customerId, keyId }: { readonly customerId: string; readonly keyId: string },
): Promise<ChangedPause[]> {
  return change(
    trx,
    sql`customer_id = ${customerId} and id = ${keyId} and paused_reason <> 'operator'`,
    sql`paused_at = null, paused_reason = null`,
  )
}

/**
 * Returns those of these keys that were revoked or paused, or whose account is suspended. An expired key's calls run to
 * their end.
 */
export async function findStoppedKeys(
  db: Database,
  keyIds: readonly string[],
): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ id: string }>`
    select k.id from api_keys k join customers c on c.id = k.customer_id
    where k.id = any (${keyIds}::uuid[])
      and (k.revoked_at is not null or k.paused_at is not null or c.suspended_at is not null)`.execute(
    db,
  )
  return new Set(rows.map(({ id }) => id))
}

async function change(
  trx: Database,
  condition: RawBuilder<unknown>,
  values: RawBuilder<unknown>,
): Promise<ChangedPause[]> {
  const { rows } = await sql<ChangedPause>`
    with wanted as (
      select id from api_keys where ${condition} order by id for no key update
    ), changed as (
      update api_keys set ${values}, version = version + 1
      where id in (select id from wanted) returning id, customer_id, name, last_four, paused_reason
    )
    select id, customer_id as "customerId", name, last_four as "lastFour", paused_reason as "pausedReason",
      pg_notify(${API_KEY_CHANNEL}, id::text)
    from changed order by id`.execute(trx)
  return rows.map(({ id, customerId, name, lastFour, pausedReason }) => ({
    id,
    customerId,
    name,
    lastFour,
    pausedReason,
  }))
}
