import { sql } from 'kysely'
import type { Database } from '../db/open.ts'
import { sha256 } from '../lib/ids.ts'

export interface Limit {
  readonly max: number
  readonly seconds: number
}

/**
 * Counts one attempt, over all nodes. Returns undefined if it is within the limit, or else the seconds until the next
 * attempt is allowed.
 */
export async function limitAttempts(
  db: Database,
  key: string,
  { max, seconds }: Limit,
): Promise<number | undefined> {
  const { rows } = await sql<{ tries: number; seconds_left: number }>`
    insert into sign_in_attempts as a (key_hash, tries, ends_at)
    values (${sha256(key)}, 1, now() + make_interval(secs => ${seconds}))
    on conflict (key_hash) do update set
      tries = case when a.ends_at <= now() then 1 else least(a.tries, 1000000) + 1 end,
      ends_at = case when a.ends_at <= now() then excluded.ends_at else a.ends_at end
    returning tries, ceil(extract(epoch from ends_at - now()))::int4 as seconds_left`.execute(db)
  const [row] = rows
  // A concurrent attempt may have started the window a moment later, so cap the wait at the whole window.
  return row && row.tries > max ? Math.min(Math.max(row.seconds_left, 1), seconds) : undefined
}

/** Takes one attempt out of each count. */
export async function giveBackAttempts(db: Database, keys: readonly string[]): Promise<void> {
  for (const key of keys)
    await sql`
      update sign_in_attempts set tries = greatest(tries - 1, 0)
      where key_hash = ${sha256(key)}`.execute(db)
}
