/**
 * LISTEN on PostgreSQL channels over a permanent separate connection. `onGap` is called after every (re)connect, because
 * notifications in between were missed. A half-open connection is as silent as one without notifications, so TCP probes
 * it and a query checks it every half minute. Notifications until then are missed too: callers must also read at
 * intervals. Through a pooler in transaction mode there are no notifications: then `onGap` is called every few seconds.
 */
import pg from 'pg'
import { readDatabaseAddress } from './database-address.ts'
import { DatabaseClient } from './database-client.ts'
import { destroyClient } from './destroy-client.ts'
import { connectionConfig } from './open.ts'

export interface Listener {
  close(): Promise<void>
}

const RECONNECT_MS = 500
const POLL_MS = 3_000
/** After this much silence TCP probes the other end; Node.js waits for ten probes, a second apart. */
const KEEP_ALIVE_AFTER_MS = 10_000
/** For failures that TCP cannot see: a proxy or a server whose kernel still answers. */
const ASK_EVERY_MS = 30_000
const ANSWER_MS_MAX = 10_000
const FAREWELL_MS_MAX = 1_000

export function listen(
  databaseUrl: string,
  channels: Readonly<Record<string, (payload: string) => void>>,
  onGap: () => void,
  { askEveryMs = ASK_EVERY_MS, answerMsMax = ANSWER_MS_MAX } = {},
): Listener {
  if (readDatabaseAddress(databaseUrl).isPooled) return poll(onGap)
  let client: pg.Client | undefined
  let timer: NodeJS.Timeout | undefined
  let isClosed = false

  function retry(failed: pg.Client): void {
    if (client !== failed || isClosed) return
    client = undefined
    clearTimeout(timer)
    void leave(failed)
    timer = setTimeout(() => void connect(), RECONNECT_MS)
  }

  async function connect(): Promise<void> {
    const fresh = new DatabaseClient({
      ...connectionConfig(databaseUrl),
      keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
      query_timeout: answerMsMax,
    })
    client = fresh
    fresh.on('error', () => retry(fresh))
    fresh.on('end', () => retry(fresh))
    fresh.on('notification', ({ channel, payload }) => channels[channel]?.(payload ?? ''))
    try {
      await fresh.connect()
      for (const channel of Object.keys(channels))
        await fresh.query(`listen ${pg.escapeIdentifier(channel)}`)
      onGap()
      askLater(fresh)
    } catch {
      retry(fresh)
    }
  }

  function askLater(asked: pg.Client): void {
    if (client !== asked || isClosed) return
    timer = setTimeout(() => {
      asked.query('select 1').then(
        () => askLater(asked),
        () => retry(asked),
      )
    }, askEveryMs)
  }

  void connect()
  return {
    async close() {
      isClosed = true
      clearTimeout(timer)
      if (client) await leave(client)
    },
  }
}

function poll(read: () => void): Listener {
  const timer = setInterval(read, POLL_MS)
  read()
  return { close: async () => clearInterval(timer) }
}

/** A graceful close would wait for ever if the other end is gone. */
function leave(client: pg.Client): Promise<void> {
  const timer = setTimeout(() => destroyClient(client), FAREWELL_MS_MAX)
  return client
    .end()
    .catch(() => {})
    .finally(() => clearTimeout(timer))
}
