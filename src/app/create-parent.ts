/**
 * The parent of a server with several workers: it owns the jobs, the reconciliation and the sandbox processor, and keeps
 * the workers running. It answers no requests.
 */
import { join } from 'node:path'
import { reconcileEnded } from '../gateway/calls/reconcile.ts'
import { PROCESSOR_EVENTS_PATH } from '../http/processor-events/processor-event-routes.ts'
import { databaseUrlOf } from '../platform/db/end-connections.ts'
import type { Readiness } from '../platform/health/readiness.ts'
import { createId } from '../platform/lib/ids.ts'
import type { Log } from '../platform/lib/log.ts'
import { mergeMetrics, type MergeRule } from '../platform/lib/read-metrics.ts'
import {
  createWorkerPool,
  type PoolWorker,
  type WorkerPool,
} from '../platform/processes/worker-pool.ts'
import { every } from './workers/every.ts'
import { startWorkers, type Workers } from './workers/start-workers.ts'
import type { Config } from './config/config.ts'
import { type App, exportMetrics } from './create-app.ts'
import { createClosing } from './create-closing.ts'
import type { Environment } from './config/environment-reader.ts'
import { openParts, type Parts } from './open-parts.ts'
import type { WorkerStart } from './process-place.ts'

/** Metrics that say the same in every process, or something of each: all others are sums over the processes. */
const MERGE_RULES: Readonly<Record<string, MergeRule>> = {
  catraca_spool_set_aside: 'max',
  catraca_fx_rate_age_seconds: 'max',
  catraca_route_breaker_state: 'max',
  catraca_reconciliation_open_discrepancies: 'max',
  catraca_price_differences: 'max',
  catraca_oldest_call_seconds: 'max',
  catraca_heartbeat_age_seconds: 'max',
  catraca_lease_held: 'min',
  catraca_replica_lag_seconds: 'max',
  catraca_replica_read: 'min',
  catraca_build_info: 'max',
  nodejs_eventloop_lag_seconds: 'max',
  nodejs_eventloop_lag_min_seconds: 'min',
  nodejs_eventloop_lag_max_seconds: 'max',
  nodejs_eventloop_lag_mean_seconds: 'max',
  nodejs_eventloop_lag_stddev_seconds: 'max',
  nodejs_eventloop_lag_p50_seconds: 'max',
  nodejs_eventloop_lag_p90_seconds: 'max',
  nodejs_eventloop_lag_p99_seconds: 'max',
  nodejs_version_info: 'max',
  process_max_fds: 'min',
  process_start_time_seconds: 'min',
}

const WORKER_PROGRAM = join(import.meta.dirname, '../worker.ts')
const RELOAD_EVERY_MS = 60_000
const RETRY_EVERY_MS = 5_000
/** A worker that is silent for so long is left out of the metrics. */
const METRICS_MS_MAX = 1_000
/** For clients that pause between two requests: they learn by an answer that their connection ends. */
const IDLE_MS = 3_000
/** From the time limit of a call to its charge. */
const CALL_END_MS = 60_000

export interface Parent extends Omit<App, 'server'> {
  /** Replaces the workers one after the other, with this environment; no call fails. */
  restart(environment: Environment): Promise<void>
}

export async function createParent(
  config: Config,
  databaseUrl: string,
  processLog: Log,
  { environment, onGiveUp }: { environment: Environment; onGiveUp: (reason: string) => void },
): Promise<Parent> {
  let workerEnvironment = environment
  const closing = createClosing(processLog)
  const serverId = createId()
  const process = { serverId, processId: createId(), worker: 0 }
  const parts = await openParts(config, databaseUrl, processLog, closing, {
    role: 'parent',
    process,
  })
  const { log } = parts
  const jobs = await startWorkers(parts, databaseUrl, RELOAD_EVERY_MS)
  closing.add('workers', { close: () => jobs.stop() })
  const ended = watchEnded(parts)
  closing.add('ended processes', { close: () => ended.stop() })
  let address = ''
  const pool: WorkerPool = createWorkerPool({
    count: config.workers,
    program: WORKER_PROGRAM,
    environment: () => workerEnvironment,
    log,
    createId,
    startDataOf: ({ processId, number }): WorkerStart => ({
      databaseUrl: databaseUrlOf(databaseUrl, processId),
      process: { serverId, processId, worker: number },
      workers: config.workers,
      sandbox: parts.payments.sandboxAccount,
    }),
    onStart: (worker) => serveWorker(worker, { parts, jobs, pool: () => pool }),
    onReady(worker, listening) {
      if (address === '') parts.payments.sendSandboxEventsTo(listening + PROCESSOR_EVENTS_PATH)
      address = listening
      postToOthers(pool, worker, 'joined')
    },
    onEnd(worker) {
      postToOthers(pool, worker, 'left', worker.processId)
      ended.add(worker.processId)
    },
    onGiveUp,
  })
  watchPool(parts, pool)
  exportMetrics(config, closing, log, () => mergedMetrics(parts, pool))
  return {
    db: parts.db,
    readiness: withWorkers(parts.readiness, () => pool),
    async listen() {
      await pool.start()
      return address
    },
    restart: (environment) => {
      workerEnvironment = environment
      const withinMs = config.callTimeoutMs + CALL_END_MS
      return pool.restart({ delayMs: 0, withinMs, idleMs: IDLE_MS })
    },
    async close(drain = { delayMs: 0, withinMs: config.drainMs, idleMs: 0 }) {
      parts.readiness.startDraining()
      await pool.stop(drain)
      await ended.settle()
      await closing.close()
    },
  }
}

/** Without a worker that serves, nothing is answered. */
function withWorkers(own: Readiness, pool: () => WorkerPool): Readiness {
  return {
    ...own,
    async findUnready() {
      const isServed = pool()
        .list()
        .some(({ state }) => state === 'ready')
      return [...(await own.findUnready()), ...(isServed ? [] : (['no_worker'] as const))]
    },
  }
}

/** The messages of one worker. */
function serveWorker(
  worker: PoolWorker,
  { parts, jobs, pool }: { parts: Parts; jobs: Workers; pool: () => WorkerPool },
): void {
  const { channel, processId } = worker
  channel.on('wake_processor_events', () => jobs.wakeProcessorEvents())
  channel.on('timers', () => jobs.listTimers())
  channel.on('metrics', () => mergedMetrics(parts, pool()))
  channel.on('running', (counts) =>
    postToOthers(pool(), worker, 'running', { from: processId, counts }),
  )
  channel.on('taken', (sums) => postToOthers(pool(), worker, 'taken', sums))
}

function postToOthers(pool: WorkerPool, from: PoolWorker, topic: string, data?: unknown): void {
  for (const other of pool.list()) if (other !== from) other.channel.post(topic, data)
}

async function mergedMetrics({ metrics }: Parts, pool: WorkerPool): Promise<string> {
  const texts = await Promise.all(
    pool
      .list()
      .filter(({ state }) => state !== 'starting')
      .map(({ channel }) =>
        channel.ask('own_metrics', undefined, METRICS_MS_MAX).then(String, () => undefined),
      ),
  )
  const heard = texts.filter((text) => text !== undefined)
  const silent = `# HELP catraca_workers_silent Workers whose numbers are missing here, because they do not answer.\n# TYPE catraca_workers_silent gauge\ncatraca_workers_silent ${texts.length - heard.length}`
  return mergeMetrics([await metrics.text(), silent, ...heard], MERGE_RULES)
}

function watchPool({ metrics }: Parts, pool: WorkerPool): void {
  metrics.gaugeByLabels('catraca_workers', 'Workers of this server.', ['state'], () =>
    (['starting', 'ready', 'draining'] as const).map((state) => ({
      labels: { state },
      value: pool.list().filter((worker) => worker.state === state).length,
    })),
  )
  metrics.gauge(
    'catraca_worker_deaths',
    'Workers that died by themselves since the start of the server.',
    () => pool.deaths,
  )
}

/** Resolves the holds of ended workers at once, and again until the database takes it. */
function watchEnded({ db, ledger, lease, calls, log }: Parts) {
  const waiting = new Set<string>()
  const deps = { db, ledger, lease, calls, log }
  const settle = async (): Promise<void> => {
    const failures: unknown[] = []
    // A process whose holds cannot be resolved delays no other.
    for (const processId of waiting)
      await reconcileEnded(deps, processId).then(
        () => waiting.delete(processId),
        (error: unknown) => failures.push(error),
      )
    if (failures.length > 0) throw failures[0]
  }
  const timer = every(RETRY_EVERY_MS, 'reconcile_ended', log, settle)
  return {
    add(processId: string): void {
      waiting.add(processId)
      timer.wake()
    },
    settle: () =>
      settle().catch((error: unknown) => log.warn('ended_workers_not_settled', { error })),
    stop: () => timer.stop(),
  }
}
