import { sql } from 'kysely'
import type { Database } from '../../platform/db/open.ts'

export async function proveUser(db: Database, userId: string): Promise<void> {
  await db
    .updateTable('sign_in_users')
    .set({ is_verified: true, updated_at: new Date() })
    .where('id', '=', userId)
    .execute()
}

/** Whether a user has verified the customer's current e-mail; otherwise it is only a claim. */
export async function hasProvedEmail(db: Database, customerId: string): Promise<boolean> {
  const { rows } = await sql`
    select 1 from customers c
    join sign_in_users u on u.email = lower(c.email) and u.is_verified
    where c.id = ${customerId}`.execute(db)
  return rows.length > 0
}
