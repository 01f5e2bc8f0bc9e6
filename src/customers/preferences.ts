/** How a customer wants things told. Budgets of keys and teams keep the time zone that they were made with. */
import { sql } from 'kysely'
import type { Database } from '../db/open.ts'
import { lockCustomer } from './customers.ts'

export interface Preferences {
  readonly timezone: string
  readonly preferred_locale: string
  readonly weekly_digest_enabled: boolean
  readonly low_balance_email_enabled: boolean
}

export async function getPreferences(db: Database, customerId: string): Promise<Preferences> {
  return db
    .selectFrom('customers')
    .select(['timezone', 'preferred_locale', 'weekly_digest_enabled', 'low_balance_email_enabled'])
    .where('id', '=', customerId)
    .executeTakeFirstOrThrow()
}

/** In a transaction. `changed` names what is not what it was. */
export async function savePreferences(
  trx: Database,
  customerId: string,
  change: Partial<Preferences>,
): Promise<{ preferences: Preferences; changed: string[] }> {
  await lockCustomer(trx, customerId)
  const stored = await getPreferences(trx, customerId)
  const preferences = { ...stored, ...change }
  const changed = Object.entries(preferences).flatMap(([field, value]) =>
    value === stored[field as keyof Preferences] ? [] : [field],
  )
  if (changed.length > 0)
    await trx.updateTable('customers').set(preferences).where('id', '=', customerId).execute()
  return { preferences, changed }
}

/**
 * True for a zone of the IANA that both Node.js and the database know, written as the database writes it.
 * Either alone takes more: `+03:00` is east of Greenwich for the one and west of it for the other.
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
