/** A customer's preferences. Budgets of keys and teams keep the time zone in which they were created. */
import { sql } from 'kysely'
import { audited, type Actor } from '../platform/audit-log/audited.ts'
import type { Database } from '../platform/db/open.ts'
import { lockCustomer } from './customers.ts'
import { findStoreRefusal, type KeyRefusal } from './key-makers.ts'
import { API_KEY_CHANNEL } from './api-keys.ts'

export interface Preferences {
  readonly timezone: string
  readonly preferred_locale: string
  readonly weekly_digest_enabled: boolean
  readonly low_balance_email_enabled: boolean
  readonly incident_email_enabled: boolean
  /** Days for which responses are stored; null: none is. */
  readonly stored_responses_days: number | null
}

export async function getPreferences(db: Database, customerId: string): Promise<Preferences> {
  return db
    .selectFrom('customers')
    .select([
      'timezone',
      'preferred_locale',
      'weekly_digest_enabled',
      'low_balance_email_enabled',
      'incident_email_enabled',
      'stored_responses_days',
    ])
    .where('id', '=', customerId)
    .executeTakeFirstOrThrow()
}

/**
 * Returns the new preferences, or the refusal of a key that would make its account store responses for longer. `by` names
 * the source of the change, if it is not a request of the signed-in customer.
 */
export function savePreferences(
  db: Database,
  actor: Actor,
  {
    customerId,
    change,
    by,
  }: { customerId: string; change: Partial<Preferences>; by?: 'unsubscribe_link' },
): Promise<
  | { readonly kind: 'saved'; readonly preferences: Preferences }
  | { readonly kind: 'scope_insufficient' }
  | KeyRefusal
> {
  return audited(db, actor, async (trx, record) => {
    await lockCustomer(trx, customerId)
    const stored = await getPreferences(trx, customerId)
    const isLonger = (change.stored_responses_days ?? 0) > (stored.stored_responses_days ?? 0)
    const refusal = isLonger ? await findStoreRefusal(trx, { actor }) : undefined
    if (refusal) return refusal
    const { preferences, changed } = await storePreferences(trx, customerId, { stored, change })
    if (changed.length > 0)
      await record({
        action: 'preferences.changed',
        customerId,
        subjectId: customerId,
        details: { fields: changed, ...(by === undefined ? {} : { by }) },
      })
    return { kind: 'saved', preferences }
  })
}

/** `changed` names the fields whose value differs from the stored one. */
async function storePreferences(
  trx: Database,
  customerId: string,
  { stored, change }: { stored: Preferences; change: Partial<Preferences> },
): Promise<{ preferences: Preferences; changed: string[] }> {
  const preferences = { ...stored, ...change }
  const changed = Object.entries(preferences).flatMap(([field, value]) =>
    value === stored[field as keyof Preferences] ? [] : [field],
  )
  if (changed.length > 0)
    await trx.updateTable('customers').set(preferences).where('id', '=', customerId).execute()
  // A call that was read before finds the setting once more where it would read or store.
  if (changed.includes('stored_responses_days')) await reloadKeys(trx, customerId)
  return { preferences, changed }
}

/**
 * Whether both Node.js and the database know this IANA time zone, in the database's spelling. Each of them accepts more
 * names, with different meanings: `+03:00` is east of Greenwich for Node.js and west of it for PostgreSQL.
 */
export async function isTimezone(db: Database, timezone: string): Promise<boolean> {
  try {
    Intl.DateTimeFormat('en', { timeZone: timezone })
  } catch {
    return false
  }
  const { rows } = await sql`select 1 from pg_timezone_names where name = ${timezone}`.execute(db)
  return rows.length > 0
}

/**
 * Makes every node read the customer's active keys again, for a setting of the account that comes with them. Calls that
 * were read under the former setting go on: unlike `renewKeys`, this refuses none.
 */
export async function reloadKeys(trx: Database, customerId: string): Promise<void> {
  await sql`
    select pg_notify(${API_KEY_CHANNEL}, id::text) from api_keys
    where customer_id = ${customerId} and revoked_at is null`.execute(trx)
}
