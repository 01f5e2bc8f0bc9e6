/** Prometheus metrics of this node, and the observers that the modules report to. */
import { Gauge, Registry, collectDefaultMetrics, Counter } from 'prom-client'
import type { GatewayEvents } from '../gateway/calls/gateway-parts.ts'
import type { LaneObserver } from '../money/ledger/lane/lane.ts'
import type { Log, LogFacts } from '../platform/lib/log.ts'
import { createHotHistogram, createHotCounter } from '../platform/lib/hot-metrics.ts'

/** The metrics of the hot path, which render their own lines, and the observer that counts them. */
interface Hot<Observer> {
  readonly observer: Observer
  readonly metrics: readonly { text(): string }[]
}

/** The buckets for times that the gateway itself takes. */
const ADDED_SECONDS = [
  0.00025, 0.0005, 0.00075, 0.001, 0.0015, 0.002, 0.003, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1,
]

const SECONDS = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120,
]
/** Coarser, because each model has a row of them for each status class, plain and streamed. */
const CALL_SECONDS = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600,
]
/** The label of a call that was refused before its model was known, or that names no model of the catalog. */
const NO_MODEL = 'unknown'
const CLASSES = ['', '1xx', '2xx', '3xx', '4xx', '5xx']

/** Every label is bounded: models of the catalog, upstreams of the configuration, and words of the code. */
function createGatewayMetrics(registers: Registry[]): Hot<GatewayEvents> {
  const requests = createHotCounter({
    name: 'catraca_requests_total',
    help: 'Model calls answered. Calls that were refused before their model was known count as the model "unknown".',
    labels: ['model', 'status'],
  })
  const refusals = createHotCounter({
    name: 'catraca_refusals_total',
    help: 'Model calls refused, by the code of the error.',
    labels: ['code', 'status'],
  })
  const duration = createHotHistogram({
    name: 'catraca_request_seconds',
    help: 'From the request to the end of the answer.',
    labels: ['model', 'status_class', 'stream'],
    buckets: CALL_SECONDS,
  })
  const added = createHotHistogram({
    name: 'catraca_added_seconds',
    help: 'What the gateway adds to a plain answer: its duration less the time spent waiting for the upstream.',
    buckets: ADDED_SECONDS,
  })
  const firstByte = createHotHistogram({
    name: 'catraca_first_byte_seconds',
    help: 'Of answered streams: from the request to the first chunk of the upstream, with every try before it.',
    labels: ['model'],
    buckets: CALL_SECONDS,
  })
  const upstreamFirstByte = createHotHistogram({
    name: 'catraca_upstream_first_byte_seconds',
    help: 'From a call of an upstream to the first byte of its answer, or to the end of a plain one.',
    labels: ['upstream'],
    buckets: SECONDS,
  })
  const settlementLag = createHotHistogram({
    name: 'catraca_settlement_lag_seconds',
    help: 'From the end of the answer of the upstream to its durable charge, in the database or in the spool.',
    labels: ['kept'],
    buckets: ADDED_SECONDS,
  })
  const labelNames = ['upstream', 'reason']
  const failures = new Counter({
    registers,
    name: 'catraca_upstream_failures_total',
    help: 'Calls that an upstream failed.',
    labelNames,
  })
  const translations = new Counter({
    registers,
    name: 'catraca_upstream_translations_total',
    help: "Calls that an upstream with the client's own format got as a translation, by what it does not take.",
    labelNames,
  })
  const overruns = createOverruns(registers)
  return {
    metrics: [requests, refusals, duration, added, firstByte, upstreamFirstByte, settlementLag],
    observer: {
      answered({ modelId, status, isStream, durationMs, firstByteMs, upstreamMs }) {
        requests.count(modelId, String(status))
        const statusClass = CLASSES[Math.trunc(status / 100)] ?? ''
        duration.observe(durationMs / 1000, modelId, statusClass, isStream ? 'true' : 'false')
        if (isStream) firstByte.observe(firstByteMs / 1000, modelId)
        else added.observe((durationMs - upstreamMs) / 1000)
      },
      refused({ modelId = NO_MODEL, status, code, isStream, durationMs }) {
        requests.count(modelId, String(status))
        refusals.count(code, String(status))
        const statusClass = CLASSES[Math.trunc(status / 100)] ?? ''
        duration.observe(durationMs / 1000, modelId, statusClass, isStream ? 'true' : 'false')
      },
      upstreamAnswered: ({ upstreamId, firstByteMs }) =>
        upstreamFirstByte.observe(firstByteMs / 1000, upstreamId),
      upstreamFailed: ({ upstreamId: upstream, reason }) => failures.inc({ upstream, reason }),
      translated: ({ upstreamId: upstream, reason }) => translations.inc({ upstream, reason }),
      settled: (kept, lagMs) => settlementLag.observe(lagMs / 1000, kept),
      overrun: () => overruns.inc(),
    },
  }
}

function createOverruns(registers: Registry[]): Counter {
  return new Counter({
    registers,
    name: 'catraca_charges_above_hold_total',
    help: 'Charges above their hold. Look into each.',
  })
}

/**
 * Log events that alert rules ask for. They are counted from zero: a counter that first appears with its first event
 * shows no increase, so the first event would raise no alert.
 */
export const ALARM_EVENTS = {
  error: [
    'answer_not_delivered',
    'card_testing_suspected',
    'charge_corrected',
    'charge_without_hold',
    'disk_full',
    'final_outcome_superseded',
    'hold_failed',
    'impossible_usage_reported',
    'mail_not_sent',
    'model_call_failed',
    'node_fenced',
    'payment_not_found',
    'payments_comparison_unfinished',
    'price_below_cost',
    'price_data_refused',
    'refund_failed',
    'refund_waits_for_processor_balance',
    'request_failed',
    'resolution_refused',
    'spool_append_failed',
    'spool_file_gone',
    'spooled_resolution_refused',
    'top_up_amount_differs',
    'uncaught',
    'usage_months_short',
  ],
  warn: ['price_data_unread', 'silent_node_fenced', 'usage_months_not_made', 'worker_failed'],
} as const

export interface Metrics {
  readonly gateway: GatewayEvents
  readonly ledger: LaneObserver
  /** Returns a log that writes to the given one and counts its warnings and errors. */
  countLog(log: Log): Log
  /** The number of unexplained discrepancies of the reconciliation. */
  openDifferences(count: number): void
  /** The number of models whose prices differ from the price data. */
  priceDifferences(count: number): void
  /** A value that is read when the metrics are requested. */
  gauge(name: string, help: string, read: () => number): void
  gaugeByLabels(
    name: string,
    help: string,
    labelNames: readonly string[],
    read: () => readonly LabelledValue[],
  ): void
  readonly contentType: string
  text(): Promise<string>
}

export interface LabelledValue {
  readonly labels: Record<string, string>
  readonly value: number
}

export function createMetrics(): Metrics {
  const registry = new Registry()
  const registers = [registry]
  collectDefaultMetrics({ register: registry })
  const gateway = createGatewayMetrics(registers)
  const ledger = createLedgerMetrics(registers)
  const countLog = createLogCounter(registers)
  const openDifferences = new Gauge({
    registers,
    name: 'catraca_reconciliation_open_discrepancies',
    help: 'Differences with the books of the processor and the upstreams that nobody has explained. Look into each.',
  })
  const priceDifferences = new Gauge({
    registers,
    name: 'catraca_price_differences',
    help: 'New models and prices of the price data that wait for an answer. See `prices pending`.',
  })
  const hot = [...gateway.metrics, ...ledger.metrics]
  return {
    gateway: gateway.observer,
    ledger: ledger.observer,
    countLog,
    openDifferences: (count) => openDifferences.set(count),
    priceDifferences: (count) => priceDifferences.set(count),
    gauge(name, help, read) {
      addGauge(registers, { name, help, labelNames: [] }, () => [{ labels: {}, value: read() }])
    },
    gaugeByLabels(name, help, labelNames, read) {
      addGauge(registers, { name, help, labelNames }, read)
    },
    contentType: registry.contentType,
    text: async () =>
      [...hot.map((metric) => metric.text()), await registry.metrics()].join('\n\n'),
  }
}

function addGauge(
  registers: Registry[],
  named: { name: string; help: string; labelNames: readonly string[] },
  read: () => readonly LabelledValue[],
): void {
  new Gauge({
    registers,
    ...named,
    collect() {
      for (const { labels, value } of read()) this.set(labels, value)
    },
  })
}

/** Counts the warnings and errors of a log by their event, also those that the throttle does not write. */
function createLogCounter(registers: Registry[]): (log: Log) => Log {
  const events = new Counter({
    registers,
    name: 'catraca_log_events_total',
    help: 'Warnings and errors of the log, by event, with those that are not written because they repeat.',
    labelNames: ['level', 'event'],
  })
  for (const [level, names] of Object.entries(ALARM_EVENTS))
    for (const event of names) events.inc({ level, event }, 0)
  return (log) => ({
    debug: (event, facts) => log.debug(event, facts),
    info: (event, facts) => log.info(event, facts),
    warn(event: string, facts?: LogFacts) {
      events.inc({ level: 'warn', event })
      log.warn(event, facts)
    },
    error(event: string, facts?: LogFacts) {
      events.inc({ level: 'error', event })
      log.error(event, facts)
    },
  })
}

function createLedgerMetrics(registers: Registry[]): Hot<LaneObserver> {
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
  const gone = new Counter({
    registers,
    name: 'catraca_resolutions_without_hold_total',
    help: 'Resolutions whose hold was resolved before.',
  })
  return {
    metrics: [batchSize, batchSeconds],
    observer: {
      batch(size, durationMs) {
        batchSize.observe(size)
        batchSeconds.observe(durationMs / 1000)
      },
      gone: (count) => gone.inc(count),
    },
  }
}
