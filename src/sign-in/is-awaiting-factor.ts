import type { Database } from '../db/open.ts'

/** Whether the session that an answer of better-auth begins waits for a code. */
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
