import { sql } from 'kysely'
import { exactTime } from '../../platform/db/exact-time.ts'
import type { Database } from '../../platform/db/open.ts'

declare const isTakenBefore: unique symbol

/** The database's time, by `exactTime`, at which the processor had not been asked yet: its answer is newer. */
export type AskedAt = string & { readonly [isTakenBefore]: true }

/**
 * Asks the processor, and says since when its answer can be true: the caller may be suspended between the answer and
 * its use, while other nodes hear something newer.
 */
export async function askAt<Outcome>(
  db: Database,
  ask: () => Promise<Outcome>,
): Promise<{ readonly askedAt: AskedAt; readonly outcome: Outcome }> {
  const { rows } = await sql<{ asked_at: AskedAt }>`
    select ${exactTime('at')} as asked_at from (select clock_timestamp() as at) clock`.execute(db)
  const { asked_at: askedAt } = rows[0] as { asked_at: AskedAt }
  return { askedAt, outcome: await ask() }
}
