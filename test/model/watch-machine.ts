/**
 * Notes the pauses of this machine. The model drives the clocks of its nodes, but connections, statements and the
 * database's own clock run on real time: a schedule that fails while the machine stands still has shown nothing.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'

const EVERY_MS = 50
/** A fifth of the shortest time-out that a schedule does not expect (the heartbeat's). */
const PAUSE_MS = 500

export interface MachineWatch {
  /** Neither this process nor the database answered for `PAUSE_MS` at some time since `sinceMs` (`performance.now()`). */
  hasPausedSince(sinceMs: number): boolean
  close(): Promise<void>
}

export async function watchMachine(databaseUrl: string): Promise<MachineWatch> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  let lastPauseMs = Number.NEGATIVE_INFINITY
  let answeredMs = performance.now()
  const closing = new AbortController()
  async function watch(): Promise<void> {
    while (!closing.signal.aborted) {
      await sleep(EVERY_MS)
      await client.query('select 1')
      const nowMs = performance.now()
      if (nowMs - answeredMs > PAUSE_MS) lastPauseMs = nowMs
      answeredMs = nowMs
    }
  }
  const watching = watch()
  return {
    hasPausedSince: (sinceMs) =>
      lastPauseMs >= sinceMs || performance.now() - answeredMs > PAUSE_MS,
    async close() {
      closing.abort()
      await watching
      await client.end()
    },
  }
}
