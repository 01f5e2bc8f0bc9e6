/** Records when each key was last used: in memory during requests, and in the database some seconds later. */
import { sql } from 'kysely'
import type { Database } from '../platform/db/open.ts'
import type { Log } from '../platform/lib/log.ts'

export interface KeyUses {
  /** For the hot path: a single write to a map. */
  note(keyId: string): void
  /** Never rejects: after a failure the times stay for the next flush, and the log has `key_uses_flush_failed`. */
  flush(): Promise<void>
}

export function createKeyUses(deps: {
  readonly db: Database
  readonly log: Log
  /** In ms since 1970. */
  readonly now?: () => number
}): KeyUses {
  const { db, log, now = Date.now } = deps
  /** At most one entry per key. */
  let pending = new Map<string, number>()
  let flushed = Promise.resolve()

  async function write(): Promise<void> {
    if (pending.size === 0) return
    const taken = pending
    pending = new Map()
    try {
      await storeUses(db, taken)
    } catch (error) {
      log.warn('key_uses_flush_failed', { keys: taken.size, error })
      for (const [keyId, usedAtMs] of taken) if (!pending.has(keyId)) pending.set(keyId, usedAtMs)
    }
  }

  return {
    note(keyId) {
      pending.set(keyId, now())
    },
    flush() {
      flushed = flushed.then(write)
      return flushed
    },
  }
}

/** All nodes write the rows in the same order, so that they cannot deadlock. */
async function storeUses(db: Database, uses: ReadonlyMap<string, number>): Promise<void> {
  const keyIds = [...uses.keys()]
  const times = [...uses.values()].map((ms) => new Date(ms).toISOString())
  await sql`
    insert into api_key_uses as stored (api_key_id, last_used_at)
    select k.id, used.at
    from unnest(${keyIds}::uuid[], ${times}::timestamptz[]) as used(id, at)
    join api_keys k on k.id = used.id
    order by k.id
    on conflict (api_key_id) do update set
      last_used_at = greatest(stored.last_used_at, excluded.last_used_at)`.execute(db)
}
