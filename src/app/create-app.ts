/**
 * The composition root. `openParts` opens the parts that hold resources, each after the parts it needs; the app
 * consists of them, and closes them in the reverse order.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { Database } from '../platform/db/open.ts'
import { createServer } from './create-server.ts'
import { listen, stopListening } from '../http/server/listen.ts'
import type { ConnectionLimit } from '../http/server/connection-limit.ts'
import { createResponseSockets } from '../http/model-calls/response-sockets.ts'
import { createLiveStreams } from '../http/live/live-streams.ts'
import { PROCESSOR_EVENTS_PATH } from '../http/processor-events/processor-event-routes.ts'
import type { Readiness } from '../platform/health/readiness.ts'
import type { Drain } from '../platform/lib/drain.ts'
import type { Log } from '../platform/lib/log.ts'
import type { Config } from './config/config.ts'
import { deriveConnectionsMax, readDescriptorLimit } from './config/derive-connections-max.ts'
import { createClosing, type Closing } from './create-closing.ts'
import type { Metrics } from './create-metrics.ts'
import { createHttpParts } from './create-http-parts.ts'
import { createModelCalls } from './create-model-calls.ts'
import { openParts, type Parts } from './open-parts.ts'
import { ALONE, type ProcessPlace } from './process-place.ts'
import { listActiveSessionIds } from '../identity/sign-in/sessions.ts'
import { readLiveAccounts } from '../money/usage/read-usage.ts'
import { createBatchRunner } from './workers/run-batches.ts'
import { NO_WORKERS, startWorkers } from './workers/start-workers.ts'
import { evenConnections, type ConnectionWatch } from '../platform/processes/connections.ts'
import { openMetricsExport } from '../gateway/tracing/open-metrics-export.ts'
import { every } from './workers/every.ts'
import { releaseOf } from './release-of.ts'

const POLL_MS = 50

/**
 * Returns the function that ends the server: while balancers learn of it everything is served, then new connections are
 * refused, and running requests may finish. Called again while it runs, it may shorten the time that is left.
 */
function createDrain(
  server: FastifyInstance,
  connections: ConnectionWatch,
  { calls, place, readiness }: Pick<Parts, 'calls' | 'place' | 'readiness'>,
): (drain: Drain) => Promise<void> {
  if (place.role === 'worker') {
    const even = evenConnections(server.server)
    place.parent.on('state', (mean) => even.report(Number(mean)))
  }
  let acceptsUntilMs = Infinity
  let withinMs = Infinity
  let idleMs = Infinity
  let drained: Promise<void> | undefined

  const leftMs = (): number => acceptsUntilMs + withinMs - performance.now()

  /** No connection is cut while a request may be on it: each is closed after an answer, or once it is quiet. */
  async function untilQuiet(): Promise<void> {
    while (leftMs() > 0) {
      connections.closeQuiet(idleMs)
      if (connections.open === 0 && calls.size === 0) return
      await sleep(Math.min(POLL_MS, Math.max(0, leftMs())))
    }
  }

  async function drainNow(): Promise<void> {
    readiness.startDraining()
    connections.closeAfterAnswers()
    while (performance.now() < acceptsUntilMs)
      await sleep(Math.min(POLL_MS, Math.max(0, acceptsUntilMs - performance.now())))
    stopListening(server)
    await untilQuiet()
    const closed = server.close()
    server.server.closeAllConnections()
    await closed
    // Calls whose clients are gone are read to their end and charged.
    await calls.whenNone(withinMs)
  }

  return (drain) => {
    acceptsUntilMs = Math.min(acceptsUntilMs, performance.now() + drain.delayMs)
    withinMs = Math.min(withinMs, drain.withinMs)
    idleMs = Math.min(idleMs, drain.idleMs)
    drained ??= drainNow()
    return drained
  }
}

const RELOAD_EVERY_MS = 60_000
/** Of the connections, for WebSockets, which may be idle for minutes. */
const SOCKETS_SHARE = 0.5

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
  const models = createModelCalls(parts)
  const batches = createBatchRunner({ ...parts, ...models })
  const workers = hasWorkers
    ? await startWorkers(parts, databaseUrl, reloadEveryMs, batches)
    : NO_WORKERS
  closing.add('workers', { close: () => workers.stop() })
  const live = createLiveStreams(
    (customerIds) => readLiveAccounts(parts.db, customerIds),
    (sessionIds) => listActiveSessionIds(parts.db, sessionIds),
    log,
  )
  const connectionsMax = deriveConnectionsMax(config, readDescriptorLimit()) ?? Infinity
  const responseSockets = createResponseSockets(
    parts.shared.runningOf('sockets'),
    connectionsMax * SOCKETS_SHARE,
  )
  const { server, connections } = await createServer(
    createHttpParts(parts, {
      ...models,
      workers,
      startedAt,
      live,
      responseSockets,
    }),
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
      const address = await listen(server, config)
      // With port 0, the address is known only after listening has started.
      parts.payments.sendSandboxEventsTo(`${address}${PROCESSOR_EVENTS_PATH}`)
      return address
    },
    async close(how = { delayMs: 0, withinMs: config.drainMs, idleMs: 0 }) {
      batches.stop()
      live.close()
      responseSockets.close(how.delayMs + how.withinMs)
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

/**
 * Sends the metrics of the whole server while it runs; nothing without a setting. As for Prometheus, the changes since
 * the last time are lost at a stop: when the parts close, the numbers of the workers are gone.
 */
export function exportMetrics(
  config: Config,
  closing: Closing,
  log: Log,
  read: () => Promise<string>,
): void {
  if (config.metricsExport === undefined) return
  const send = openMetricsExport(config.metricsExport, releaseOf(config).version)
  const { everyMs } = config.metricsExport
  const timer = every(everyMs, 'export_metrics', log, async () => send(await read()))
  closing.add('metrics export', { close: () => timer.stop() })
}
