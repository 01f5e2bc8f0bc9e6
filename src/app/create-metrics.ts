/** Prometheus metrics of this node, and the observers that the modules report to. */
import { Gauge, Registry, collectDefaultMetrics } from 'prom-client'
import type { GatewayEvents } from '../gateway/calls/gateway-parts.ts'
import type { LaneObserver } from '../money/ledger/lane/lane.ts'
import type { Log } from '../platform/lib/log.ts'
import { createLogCounter } from './count-log-events.ts'
import { createGatewayMetrics } from './create-gateway-metrics.ts'
import { createLedgerMetrics } from './create-ledger-metrics.ts'

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
