/** Prometheus metrics of this node, and the observers that the modules report to. */
import { Gauge, Registry, collectDefaultMetrics, Counter } from 'prom-client'
import type { GatewayEvents } from '../gateway/calls/gateway-parts.ts'
import type { LaneObserver } from '../money/ledger/lane/lane.ts'
import type { Log, LogFacts } from '../platform/lib/log.ts'
import { createGatewayMetrics, ADDED_SECONDS, type Hot } from './create-gateway-metrics.ts'
import { createHotHistogram } from '../platform/lib/hot-metrics.ts'

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
  warn: ['silent_node_fenced', 'usage_months_not_made', 'worker_failed'],
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
    help: 'Models whose prices in force differ from the price data. See `prices check`.',
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
