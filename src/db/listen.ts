/**
 * LISTEN on PostgreSQL channels over a connection of its own, kept up. `onGap` is called after every
 * (re)connect: whatever was notified in between was missed.
 */
import pg from 'pg'
import { connectionConfig } from './open.ts'

export interface Listener {
  close(): Promise<void>
}

const RECONNECT_MS = 500

export function listen(
  databaseUrl: string,
  channels: Readonly<Record<string, (payload: string) => void>>,
  onGap: () => void,
): Listener {
  let client: pg.Client | undefined
  let timer: NodeJS.Timeout | undefined
  let isClosed = false

  function retry(failed: pg.Client): void {
    if (client !== failed || isClosed) return
    client = undefined
    failed.end().catch(() => {})
    timer = setTimeout(() => void connect(), RECONNECT_MS)
  }

  async function connect(): Promise<void> {
    const fresh = new pg.Client(connectionConfig(databaseUrl))
    client = fresh
    fresh.on('error', () => retry(fresh))
    fresh.on('end', () => retry(fresh))
    fresh.on('notification', ({ channel, payload }) => channels[channel]?.(payload ?? ''))
    try {
      await fresh.connect()
      for (const channel of Object.keys(channels))
        await fresh.query(`listen ${pg.escapeIdentifier(channel)}`)
      onGap()
    } catch {
      retry(fresh)
    }
  }

  void connect()
  return {
    async close() {
      isClosed = true
      clearTimeout(timer)
      await client?.end().catch(() => {})
    },
  }
}
