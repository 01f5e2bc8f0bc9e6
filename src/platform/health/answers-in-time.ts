import { sql } from 'kysely'
import type { Database } from '../db/open.ts'

/** A database that does not answer in this time counts as unavailable. */
const DATABASE_TIMEOUT_MS = 2_000
/** Anybody may ask, so concurrent requests share one query. */
const running = new WeakMap<Database, Promise<boolean>>()

export function answersInTime(db: Database): Promise<boolean> {
  const shared = running.get(db)
  if (shared) return shared
  const answer = askDatabase(db).finally(() => running.delete(db))
  running.set(db, answer)
  return answer
}

async function askDatabase(db: Database): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), DATABASE_TIMEOUT_MS)
  })
  const answer = sql`select 1`.execute(db).then(
    () => true,
    () => false,
  )
  try {
    return await Promise.race([answer, timeout])
  } finally {
    clearTimeout(timer)
  }
}
