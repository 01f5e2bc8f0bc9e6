/** Metrics in the text format of Prometheus, as the body that OTLP over HTTP takes (`ExportMetricsServiceRequest`). */
import { readMetrics, readMetricValue, type MetricFamily } from '../../platform/lib/read-metrics.ts'

export interface MetricsSource {
  readonly serviceName: string
  readonly version: string
  /** When the counters were zero, in milliseconds since 1970. */
  readonly startedAtMs: number
}

const LABEL = /([A-Za-z_]\w*)="((?:[^"\\]|\\.)*)"/g
/** `AGGREGATION_TEMPORALITY_CUMULATIVE`. */
const CUMULATIVE = 2

export function toOtlpMetrics(text: string, source: MetricsSource, nowMs: number): object {
  const times = { startTimeUnixNano: nanos(source.startedAtMs), timeUnixNano: nanos(nowMs) }
  const metrics = [...readMetrics(text)].flatMap(([name, family]) => {
    const data = dataOf(name, family, times)
    return data ? [{ name, description: family.help, ...data }] : []
  })
  const attributes = attributesOf(
    new Map([
      ['service.name', source.serviceName],
      ['service.version', source.version],
    ]),
  )
  const scope = { name: 'catraca', version: source.version }
  return { resourceMetrics: [{ resource: { attributes }, scopeMetrics: [{ scope, metrics }] }] }
}

type Times = { readonly startTimeUnixNano: string; readonly timeUnixNano: string }

/** Undefined for a family without a number. */
function dataOf(name: string, { type, series }: MetricFamily, times: Times): object | undefined {
  const labelled = series.map((each) => ({ ...each, labels: readLabels(each.labels) }))
  if (type === 'histogram') {
    const dataPoints = histogramPoints(name, labelled, times)
    return dataPoints.length > 0
      ? { histogram: { aggregationTemporality: CUMULATIVE, dataPoints } }
      : undefined
  }
  // JSON has neither NaN nor infinity.
  const dataPoints = labelled
    .filter(({ value }) => Number.isFinite(value))
    .map(({ labels, value }) => ({ attributes: attributesOf(labels), ...times, asDouble: value }))
  if (dataPoints.length === 0) return undefined
  return type === 'counter'
    ? { sum: { aggregationTemporality: CUMULATIVE, isMonotonic: true, dataPoints } }
    : { gauge: { dataPoints } }
}

type Labels = ReadonlyMap<string, string>

interface Labelled {
  readonly name: string
  readonly labels: Labels
  readonly value: number
}

/** Buckets of Prometheus contain those below them, and those of OTLP do not. */
function histogramPoints(name: string, series: readonly Labelled[], times: Times): object[] {
  const bucketsOf = Map.groupBy(
    series.filter((each) => each.name === `${name}_bucket`),
    ({ labels }) => keyOf(withoutBound(labels)),
  )
  const sumOf = new Map(
    series
      .filter((each) => each.name === `${name}_sum`)
      .map(({ labels, value }) => [keyOf(labels), value]),
  )
  return [...bucketsOf].map(([key, buckets]) => {
    const sorted = buckets
      .map(({ labels, value }) => ({ bound: readMetricValue(labels.get('le') ?? ''), value }))
      .toSorted((a, b) => a.bound - b.bound)
    return {
      attributes: attributesOf(withoutBound((buckets[0] as Labelled).labels)),
      ...times,
      count: String(sorted.at(-1)?.value ?? 0),
      sum: sumOf.get(key) ?? 0,
      explicitBounds: sorted.map(({ bound }) => bound).filter(Number.isFinite),
      bucketCounts: sorted.map(({ value }, index) =>
        String(value - (sorted[index - 1]?.value ?? 0)),
      ),
    }
  })
}

function withoutBound(labels: Labels): Map<string, string> {
  return new Map([...labels].filter(([name]) => name !== 'le'))
}

function keyOf(labels: Labels): string {
  return JSON.stringify([...labels].toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

function readLabels(text: string): Map<string, string> {
  return new Map(
    [...text.matchAll(LABEL)].map(([, name = '', value = '']) => [
      name,
      value.replaceAll(/\\(.)/g, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped)),
    ]),
  )
}

function attributesOf(labels: Labels): object[] {
  return [...labels].map(([key, value]) => ({ key, value: { stringValue: value } }))
}

/** 64-bit numbers are texts in OTLP's JSON. */
function nanos(ms: number): string {
  return `${Math.trunc(ms)}000000`
}
