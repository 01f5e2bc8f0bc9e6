import type { FxRateView } from '../fx/create-fx-rate-view.ts'
import type { BreakerState } from '../gateway/routing/circuit-breaker.ts'
import type { RouteState, Router } from '../gateway/routing/create-router.ts'
import type { RunningCalls } from '../gateway/running-calls.ts'
import type { ByteBudget } from '../lib/byte-budget.ts'
import type { Metrics } from './create-metrics.ts'
import type { NodeLedger } from './open-node-ledger.ts'

const BREAKER_NUMBERS: Record<BreakerState, number> = { closed: 0, half_open: 1, open: 2 }

interface Watched {
  readonly calls: RunningCalls
  readonly bodies: ByteBudget
  readonly books: NodeLedger
  readonly router: Router
  readonly fxRate: FxRateView
}

/** Gauges whose values are read when the metrics are requested. */
export function watchNode(
  metrics: Metrics,
  { calls, bodies, books, router, fxRate }: Watched,
): void {
  const { ledger, deliveries } = books
  metrics.gauge('catraca_holds_open', 'Calls of this node that hold money.', () => calls.size)
  metrics.gauge(
    'catraca_body_bytes',
    'Bytes of request bodies and unread answers in memory.',
    () => bodies.bytes,
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
  watchRoutes(metrics, router)
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
