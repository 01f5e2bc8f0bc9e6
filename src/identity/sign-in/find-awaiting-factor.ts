import type { Database } from '../../platform/db/open.ts'

/**
 * Returns the e-mail of the login session that this answer of better-auth starts, if it still needs a code of the
 * second factor.
 */
export async function findAwaitingFactor(
  db: Database,
  answer: Response,
): Promise<string | undefined> {
  const { token } = (await answer.clone().json()) as { token?: unknown }
  if (typeof token !== 'string') return undefined
  const session = await db
    .selectFrom('sign_in_sessions as s')
    .innerJoin('sign_in_users as u', 'u.id', 's.user_id')
    .select('u.email')
    .where('s.token', '=', token)
    .where('s.awaits_factor', '=', true)
    .executeTakeFirst()
  return session?.email
}
