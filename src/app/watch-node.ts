import type { FxRateView } from '../money/fx/applied-rates.ts'
import type { BreakerState } from '../gateway/calls/routing/circuit-breaker.ts'
import type { RouteState, Router } from '../gateway/calls/routing/create-router.ts'
import type { RunningCalls } from '../gateway/calls/running-calls.ts'
import type { Pool } from 'pg'
import type { ReadReplicas } from '../platform/db/replicas/open-read-replicas.ts'
import type { ReplicaState } from '../platform/db/replicas/read-replica.ts'
import type { Lease, Release } from '../money/ledger/lease.ts'
import type { Share } from '../platform/admission/share.ts'
import type { LineWriter } from '../platform/lib/line-writer.ts'
import type { Metrics } from './create-metrics.ts'
import type { NodeLedger } from './open-node-ledger.ts'

const BREAKER_NUMBERS: Record<BreakerState, number> = { closed: 0, half_open: 1, open: 2 }

interface Watched {
  readonly calls: RunningCalls
  readonly bodies: Share
  readonly books: NodeLedger
  readonly router: Router
  readonly fxRate: FxRateView
  readonly pool: Pool
  readonly replicas: ReadReplicas
  readonly lease: Lease
  readonly release: Release
  readonly accessLog: LineWriter | undefined
}

/** Adds gauges whose values are read when the metrics are requested. */
export function watchNode(
  metrics: Metrics,
  { calls, bodies, books, router, fxRate, pool, replicas, lease, release, accessLog }: Watched,
): void {
  const { ledger, deliveries } = books
  metrics.gauge('catraca_holds_open', 'Calls of this node that hold money.', () => calls.size)
  metrics.gauge(
    'catraca_oldest_call_seconds',
    'The age of the oldest call of this node that holds money; 0 without calls.',
    () => calls.oldestMs() / 1000,
  )
  metrics.gauge(
    'catraca_body_bytes',
    'Bytes of request bodies and unread answers in memory.',
    () => bodies.taken,
  )
  metrics.gauge(
    'catraca_spool_length',
    'Settlements on the local disk that wait for the database.',
    () => ledger.spoolLength,
  )
  metrics.gauge(
    'catraca_spool_set_aside',
    'Runs of bytes in the spool that are no record. Look into each.',
    () => ledger.spoolSetAside,
  )
  metrics.gauge(
    'catraca_delivery_notes_lost',
    'Delivered answers that the disk did not take a note of.',
    () => deliveries.lostCount,
  )
  metrics.gauge(
    'catraca_ledger_waiting',
    'Works that wait for the next ledger batch.',
    () => ledger.waiting,
  )
  metrics.gauge('catraca_fx_rate_age_seconds', 'Since the day of the exchange rate in force.', () =>
    ageSecondsOf(fxRate),
  )
  metrics.gauge(
    'catraca_heartbeat_age_seconds',
    'Since the last heartbeat of this node that the database took. Its lease lasts 20 s.',
    () => lease.sinceContactMs() / 1000,
  )
  metrics.gauge(
    'catraca_lease_held',
    '1: no other node may resolve the holds of this one; 0: it answers no calls.',
    () => (lease.isHeld(lease.epoch()) ? 1 : 0),
  )
  metrics.gaugeByLabels(
    'catraca_build_info',
    'Always 1; the labels say what runs.',
    ['version', 'build', 'node_version'],
    () => [{ labels: buildLabels(release), value: 1 }],
  )
  if (accessLog)
    metrics.gauge(
      'catraca_access_lines_lost',
      'Lines of the access log that its reader did not take.',
      () => accessLog.lost,
    )
  watchPool(metrics, pool)
  watchReplicas(metrics, replicas)
  watchRoutes(metrics, router)
}

function buildLabels({ version, build = 'unknown' }: Release): Record<string, string> {
  return { version, build, node_version: process.version }
}

/** The pool of every query but the ledger's, which has its own connections. */
function watchPool(metrics: Metrics, pool: Pool): void {
  metrics.gaugeByLabels(
    'catraca_database_connections',
    'Connections of the pool to the database.',
    ['state'],
    () => [
      { labels: { state: 'idle' }, value: pool.idleCount },
      { labels: { state: 'busy' }, value: pool.totalCount - pool.idleCount },
    ],
  )
  metrics.gauge(
    'catraca_database_connections_max',
    'The most connections that the pool opens.',
    () => pool.options.max,
  )
  metrics.gauge(
    'catraca_database_waiting',
    'Queries that wait for a connection of the pool.',
    () => pool.waitingCount,
  )
}

/** Without `DATABASE_READ_URL` there are none. */
function watchReplicas(metrics: Metrics, replicas: ReadReplicas): void {
  const gauge = (name: string, help: string, value: (state: ReplicaState) => number): void => {
    metrics.gaugeByLabels(name, help, ['replica'], () =>
      replicas.list().map((state) => ({ labels: { replica: state.name }, value: value(state) })),
    )
  }
  gauge(
    'catraca_replica_lag_seconds',
    'How old the data of the replica is at most; -1: it has not caught up with the start of this node yet.',
    ({ ageMs }) => (ageMs === undefined ? -1 : ageMs / 1000),
  )
  gauge(
    'catraca_replica_read',
    '1: heavy reads go to this replica; 0: it is away, too far behind, or no replica.',
    ({ trouble }) => (trouble ? 0 : 1),
  )
  metrics.gaugeByLabels(
    'catraca_replica_fallbacks',
    'Statements since the start that a replica could not answer and the primary did.',
    ['replica', 'cause'],
    () =>
      replicas
        .list()
        .flatMap(({ name: replica, fellBack }) =>
          Object.entries(fellBack).map(([cause, value]) => ({ labels: { replica, cause }, value })),
        ),
  )
}

/** -1 while no rate is known. */
function ageSecondsOf(fxRate: FxRateView): number {
  const rate = fxRate.current()
  return rate ? (Date.now() - Date.parse(rate.rateDate)) / 1000 : -1
}

/** One line per route. */
function watchRoutes(metrics: Metrics, router: Router): void {
  const gauge = (name: string, help: string, value: (state: RouteState) => number): void => {
    metrics.gaugeByLabels(name, help, ['model', 'upstream', 'upstream_model'], () =>
      router.listStates().map((state) => {
        const { upstreamId: upstream, upstreamModel: upstream_model } = state.route
        return {
          labels: { model: state.model.id, upstream, upstream_model },
          value: value(state),
        }
      }),
    )
  }
  gauge(
    'catraca_route_running',
    'Calls of this node that run on a route.',
    (state) => state.running,
  )
  gauge(
    'catraca_route_breaker_state',
    '0: closed, every call goes; 1: half open, one call tries; 2: open, no call goes.',
    (state) => BREAKER_NUMBERS[state.breaker],
  )
}
