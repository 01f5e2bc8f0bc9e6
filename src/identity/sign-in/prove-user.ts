import type { Database } from '../../platform/db/open.ts'

export async function proveUser(db: Database, userId: string): Promise<void> {
  await db
    .updateTable('sign_in_users')
    .set({ is_verified: true, updated_at: new Date() })
    .where('id', '=', userId)
    .execute()
}
