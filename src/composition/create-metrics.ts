/** Prometheus metrics of this node, and the observers that the modules report to. */
import { Counter, Gauge, Registry, collectDefaultMetrics } from 'prom-client'
import type { GatewayObserver } from '../gateway/gateway-deps.ts'
import type { BreakerState } from '../gateway/routing/circuit-breaker.ts'
import type { RouteState, Router } from '../gateway/routing/create-router.ts'
import type { LaneObserver } from '../ledger/lane.ts'
import { createHotCounter, createHotHistogram } from '../lib/hot-metrics.ts'

export interface Metrics {
  readonly gateway: GatewayObserver
  readonly ledger: LaneObserver
  /** Values that are read when they are asked for. */
  watch(read: {
    runningCalls: () => number
    spoolLength: () => number
    spoolSetAside: () => number
    deliveryNotesLost: () => number
    ledgerWaiting: () => number
    fxRateAgeSeconds: () => number
    openDifferences: () => number
    routes: Router['listStates']
  }): void
  readonly contentType: string
  text(): Promise<string>
}

const SECONDS = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120,
]
const ADDED_SECONDS = [
  0.00025, 0.0005, 0.00075, 0.001, 0.0015, 0.002, 0.003, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1,
]

export function createMetrics(): Metrics {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  const requests = createHotCounter({
    name: 'catraca_requests_total',
    help: 'Model calls answered.',
    labels: ['model', 'status'],
  })
  const duration = createHotHistogram({
    name: 'catraca_request_seconds',
    help: 'From the request to the end of the answer.',
    buckets: SECONDS,
  })
  const added = createHotHistogram({
    name: 'catraca_added_seconds',
    help: 'What the gateway adds to a plain answer: its duration less the time spent waiting for the upstream.',
    buckets: ADDED_SECONDS,
  })
  const firstByte = createHotHistogram({
    name: 'catraca_upstream_first_byte_seconds',
    help: 'From a call of an upstream to the first byte of its answer, or to the end of a plain one.',
    label: 'upstream',
    buckets: SECONDS,
  })
  const settlementLag = createHotHistogram({
    name: 'catraca_settlement_lag_seconds',
    help: 'From the end of the answer of the upstream to its durable charge, in the database or in the spool.',
    label: 'kept',
    buckets: ADDED_SECONDS,
  })
  const batchSize = createHotHistogram({
    name: 'catraca_ledger_batch_size',
    help: 'Works in a ledger batch.',
    buckets: [1, 2, 4, 8, 16, 32, 64, 128, 256],
  })
  const batchSeconds = createHotHistogram({
    name: 'catraca_ledger_batch_seconds',
    help: 'Time of a ledger batch, commit included.',
    buckets: ADDED_SECONDS,
  })
  const hot = [requests, duration, added, firstByte, settlementLag, batchSize, batchSeconds]
  const upstreamFailures = new Counter({
    registers,
    name: 'catraca_upstream_failures_total',
    help: 'Calls that an upstream failed.',
    labelNames: ['upstream', 'reason'],
  })
  const overruns = new Counter({
    registers,
    name: 'catraca_charges_above_hold_total',
    help: 'Charges above their hold. Look into each.',
  })
  const gone = new Counter({
    registers,
    name: 'catraca_resolutions_without_hold_total',
    help: 'Resolutions whose hold was resolved before.',
  })

  return {
    gateway: {
      answered({ model, status, durationMs, upstreamMs, isStream }) {
        requests.count(model, String(status))
        duration.observe(durationMs / 1000)
        if (!isStream && status === 200) added.observe((durationMs - upstreamMs) / 1000)
      },
      upstreamAnswered: ({ upstreamId, firstByteMs }) =>
        firstByte.observe(firstByteMs / 1000, upstreamId),
      upstreamFailed: ({ upstreamId, reason }) =>
        upstreamFailures.inc({ upstream: upstreamId, reason }),
      settled: (kept, lagMs) => settlementLag.observe(lagMs / 1000, kept),
      overrun: () => overruns.inc(),
    },
    ledger: {
      batch(size, durationMs) {
        batchSize.observe(size)
        batchSeconds.observe(durationMs / 1000)
      },
      gone: (count) => gone.inc(count),
    },
    watch(read) {
      const gauge = (name: string, help: string, value: () => number): void => {
        new Gauge({
          registers,
          name,
          help,
          collect() {
            this.set(value())
          },
        })
      }
      gauge('catraca_holds_open', 'Calls of this node that hold money.', read.runningCalls)
      gauge(
        'catraca_spool_length',
        'Settlements on the local disk that wait for the database.',
        read.spoolLength,
      )
      gauge(
        'catraca_spool_set_aside',
        'Runs of bytes in the spool that are no record. Look into each.',
        read.spoolSetAside,
      )
      gauge(
        'catraca_delivery_notes_lost',
        'Delivered answers that the disk did not take a note of.',
        read.deliveryNotesLost,
      )
      gauge(
        'catraca_ledger_waiting',
        'Works that wait for the next ledger batch.',
        read.ledgerWaiting,
      )
      gauge(
        'catraca_fx_rate_age_seconds',
        'Since the day of the exchange rate in force.',
        read.fxRateAgeSeconds,
      )
      gauge(
        'catraca_reconciliation_open_differences',
        'Differences with the books of the processor and the upstreams that nobody has explained. Look into each.',
        read.openDifferences,
      )
      watchRoutes(registers, read.routes)
    },
    contentType: registry.contentType,
    text: async () =>
      [...hot.map((metric) => metric.text()), await registry.metrics()].join('\n\n'),
  }
}

const BREAKER_NUMBERS: Record<BreakerState, number> = { closed: 0, half_open: 1, open: 2 }

/** A line for each route: what it is at the moment of the question. */
function watchRoutes(registers: Registry[], listStates: Router['listStates']): void {
  const gauge = (name: string, help: string, value: (state: RouteState) => number): void => {
    new Gauge({
      registers,
      name,
      help,
      labelNames: ['model', 'upstream', 'upstream_model'],
      collect() {
        for (const state of listStates()) {
          const { model, route } = state
          const { upstreamId: upstream, upstreamModel: upstream_model } = route
          this.set({ model: model.id, upstream, upstream_model }, value(state))
        }
      },
    })
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
