/** Prometheus metrics of this node, and the observers that the modules report to. */
import { Counter, Gauge, Registry, collectDefaultMetrics } from 'prom-client'
import type { GatewayObserver } from '../gateway/gateway-deps.ts'
import type { LaneObserver } from '../ledger/lane/lane.ts'
import { createHotCounter, createHotHistogram } from '../lib/hot-metrics.ts'

export interface Metrics {
  readonly gateway: GatewayObserver
  readonly ledger: LaneObserver
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

/** The metrics of the hot path, which render their own lines. */
interface Hot<Observer> {
  readonly observer: Observer
  readonly metrics: readonly { text(): string }[]
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
  const gateway = createGatewayMetrics(registers)
  const ledger = createLedgerMetrics(registers)
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

function createGatewayMetrics(registers: Registry[]): Hot<GatewayObserver> {
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
  const failures = new Counter({
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
  return {
    metrics: [requests, duration, added, firstByte, settlementLag],
    observer: {
      answered({ model, status, durationMs, upstreamMs, isStream }) {
        requests.count(model, String(status))
        duration.observe(durationMs / 1000)
        if (!isStream && status === 200) added.observe((durationMs - upstreamMs) / 1000)
      },
      upstreamAnswered: ({ upstreamId, firstByteMs }) =>
        firstByte.observe(firstByteMs / 1000, upstreamId),
      upstreamFailed: ({ upstreamId, reason }) => failures.inc({ upstream: upstreamId, reason }),
      settled: (kept, lagMs) => settlementLag.observe(lagMs / 1000, kept),
      overrun: () => overruns.inc(),
    },
  }
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
