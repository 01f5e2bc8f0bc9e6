/**
 * The composition root. `openParts` opens the parts that hold resources, each after the parts it needs; the app
 * consists of them, and closes them in the reverse order.
 */
import type { FastifyInstance } from 'fastify'
import type { Database } from '../platform/db/open.ts'
import { createServer } from './create-server.ts'
import type { ConnectionLimit } from '../http/server/connection-limit.ts'
import { createLiveStreams } from '../http/live/live-streams.ts'
import { PROCESSOR_EVENTS_PATH } from '../http/processor-events/processor-event-routes.ts'
import type { Readiness } from '../platform/health/readiness.ts'
import type { Drain } from '../platform/lib/drain.ts'
import type { Log } from '../platform/lib/log.ts'
import type { Config } from './config/config.ts'
import { createClosing } from './create-closing.ts'
import type { Metrics } from './create-metrics.ts'
import { createHttpParts } from './create-http-parts.ts'
import { createModelCalls } from './create-model-calls.ts'
import { createDrain } from './create-drain.ts'
import { exportMetrics } from './export-metrics.ts'
import { openParts } from './open-parts.ts'
import { ALONE, type ProcessPlace } from './process-place.ts'
import { listActiveSessionIds } from '../identity/sign-in/sessions.ts'
import { readLiveAccounts } from '../money/usage/read-live-accounts.ts'
import { NO_WORKERS, startWorkers } from './workers/start-workers.ts'

const RELOAD_EVERY_MS = 60_000

export interface App {
  readonly db: Database
  readonly server: FastifyInstance
  readonly readiness: Readiness
  /** Starts to listen; returns the address, such as `http://127.0.0.1:8080`. */
  listen(): Promise<string>
  /** Accepts no more calls, lets the running ones end, and closes everything. Again: may shorten the time for that. */
  close(drain?: Drain): Promise<void>
}

export interface AppOptions {
  /** False runs no background jobs, so that only requests change data. */
  readonly hasWorkers?: boolean
  /** How often the exchange rate and the operators' changes are read, in case a notification was missed. */
  readonly reloadEveryMs?: number
  readonly place?: ProcessPlace
}

export async function createApp(
  config: Config,
  databaseUrl: string,
  log: Log,
  { hasWorkers = true, reloadEveryMs = RELOAD_EVERY_MS, place = ALONE }: AppOptions = {},
): Promise<App> {
  const startedAt = new Date()
  const closing = createClosing(log)
  const parts = await openParts(config, databaseUrl, log, closing, place)
  const workers = hasWorkers ? await startWorkers(parts, databaseUrl, reloadEveryMs) : NO_WORKERS
  closing.add('workers', { close: () => workers.stop() })
  const live = createLiveStreams(
    (customerIds) => readLiveAccounts(parts.db, customerIds),
    (sessionIds) => listActiveSessionIds(parts.db, sessionIds),
    log,
  )
  const { server, connections } = await createServer(
    createHttpParts(parts, { ...createModelCalls(parts), workers, startedAt, live }),
  )

  watchLimit(parts.metrics, connections)
  // With workers, the parent sends the numbers of all.
  if (place.role === 'alone') exportMetrics(config, closing, parts.log, () => parts.metrics.text())
  const drain = createDrain(server, connections.watch, parts)

  return {
    db: parts.db,
    server,
    readiness: parts.readiness,
    async listen() {
      const address = await server.listen({ host: config.host, port: config.port })
      // With port 0, the address is known only after listening has started.
      parts.payments.sendSandboxEventsTo(`${address}${PROCESSOR_EVENTS_PATH}`)
      return address
    },
    async close(how = { delayMs: 0, withinMs: config.drainMs, idleMs: 0 }) {
      live.close()
      await drain(how)
      await closing.close()
    },
  }
}

function watchLimit(metrics: Metrics, connections: ConnectionLimit): void {
  metrics.gauge('catraca_connections', 'Open connections of clients.', () => connections.open)
  metrics.gauge(
    'catraca_connections_max',
    'The connections of clients that are served at once; 0: no limit.',
    () => connections.max ?? 0,
  )
  metrics.gauge(
    'catraca_connections_refused',
    'Connections above the limit since the start, answered 503 or closed.',
    () => connections.refused,
  )
}
