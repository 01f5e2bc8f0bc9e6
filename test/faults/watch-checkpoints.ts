/** Polls the holds, and keeps the furthest checkpoint of each. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '../../src/platform/db/open.ts'

export interface CheckpointWatch {
  /** Output tokens, by hold. */
  readonly seen: ReadonlyMap<string, number>
  stop(): Promise<void>
}

const LOOK_EVERY_MS = 500

export function watchCheckpoints(db: Database): CheckpointWatch {
  const seen = new Map<string, number>()
  const stopping = new AbortController()
  const running = (async () => {
    while (!stopping.signal.aborted) {
      await sleep(LOOK_EVERY_MS)
      const rows = await db
        .selectFrom('holds')
        .select(['id', 'output_tokens_seen'])
        .where('output_tokens_seen', '>', 0)
        .execute()
        // While the database is unavailable there is nothing to read.
        .catch(() => [])
      for (const { id, output_tokens_seen: tokens } of rows)
        seen.set(id, Math.max(tokens, seen.get(id) ?? 0))
    }
  })()
  return {
    seen,
    async stop() {
      stopping.abort()
      await running
    },
  }
}
