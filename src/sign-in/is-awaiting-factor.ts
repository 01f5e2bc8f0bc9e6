import type { Database } from '../db/open.ts'

/** True if the login session that this answer of better-auth starts still needs a code of the second factor. */
export async function isAwaitingFactor(db: Database, answer: Response): Promise<boolean> {
  const { token } = (await answer.clone().json()) as { token?: unknown }
  if (typeof token !== 'string') return false
  const session = await db
    .selectFrom('sign_in_sessions')
    .select('awaits_factor')
    .where('token', '=', token)
    .executeTakeFirst()
  return session?.awaits_factor === true
}
