import { Counter, type Registry } from 'prom-client'
import type { GatewayEvents } from '../gateway/calls/gateway-parts.ts'
import { createHotCounter, createHotHistogram } from '../platform/lib/hot-metrics.ts'

/** The metrics of the hot path, which render their own lines, and the observer that counts them. */
export interface Hot<Observer> {
  readonly observer: Observer
  readonly metrics: readonly { text(): string }[]
}

/** The buckets for times that the gateway itself takes. */
export const ADDED_SECONDS = [
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
export function createGatewayMetrics(registers: Registry[]): Hot<GatewayEvents> {
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
