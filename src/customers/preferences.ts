/** How a customer wants to be notified. Budgets of keys and teams keep the time zone that they were created with. */
import { sql } from 'kysely'
import { audited, type Actor } from '../audit-log/audited.ts'
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

/** Returns the preferences as they are now. `by`: the way of the change, when it is not the customer's request itself. */
export function savePreferences(
  db: Database,
  actor: Actor,
  {
    customerId,
    change,
    by,
  }: { customerId: string; change: Partial<Preferences>; by?: 'unsubscribe_link' },
): Promise<Preferences> {
  return audited(db, actor, async (trx, record) => {
    const { preferences, changed } = await storePreferences(trx, customerId, change)
    if (changed.length > 0)
      await record({
        action: 'preferences.changed',
        customerId,
        subjectId: customerId,
        details: { fields: changed, ...(by === undefined ? {} : { by }) },
      })
    return preferences
  })
}

/** `changed` names the fields whose value is another one than before. */
async function storePreferences(
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
