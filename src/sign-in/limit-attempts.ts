import { sql } from 'kysely'
import type { Database } from '../db/open.ts'
import { sha256 } from '../lib/ids.ts'

export interface Limit {
  readonly max: number
  readonly seconds: number
}

/** Counts one more; after how many seconds to try again, where that was too many. On all nodes together. */
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
  // Of a window that another try began a moment after this one: never more than the whole of it.
  return row && row.tries > max ? Math.min(Math.max(row.seconds_left, 1), seconds) : undefined
}
