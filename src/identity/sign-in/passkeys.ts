import { sql } from 'kysely'
import type { Database } from '../../platform/db/open.ts'

export interface ListedPasskey {
  readonly id: string
  readonly name: string
  readonly createdAt: Date
}

export async function listPasskeys(db: Database, userId: string): Promise<ListedPasskey[]> {
  const { rows } = await sql<ListedPasskey>`
    select id, name, created_at as "createdAt" from sign_in_passkeys
    where user_id = ${userId} order by created_at, id`.execute(db)
  return rows
}

/** Returns the removed passkey's name, or undefined if the user has no such passkey. */
export async function deletePasskey(
  trx: Database,
  { userId, id }: { readonly userId: string; readonly id: string },
): Promise<string | undefined> {
  const removed = await trx
    .deleteFrom('sign_in_passkeys')
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .returning('name')
    .executeTakeFirst()
  return removed?.name
}
