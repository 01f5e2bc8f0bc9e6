/** Metrics in the text format of Prometheus, as the body that OTLP over HTTP takes (`ExportMetricsServiceRequest`). */

export interface MetricsSource {
  readonly serviceName: string
  readonly version: string
  /** When the counters were zero, in milliseconds since 1970. */
  readonly startedAtMs: number
}

interface Series {
  readonly labels: ReadonlyMap<string, string>
  readonly value: number
}

interface Family {
  help: string
  type: string
  /** By the name of the line: a histogram has three. */
  readonly series: Map<string, Series[]>
}

const SERIES = /^(\S+?)(?:\{(.*)\})? (\S+)$/
const LABEL = /([A-Za-z_]\w*)="((?:[^"\\]|\\.)*)"/g
const PART = /_(?:bucket|sum|count)$/
/** `AGGREGATION_TEMPORALITY_CUMULATIVE`. */
const CUMULATIVE = 2

export function toOtlpMetrics(text: string, source: MetricsSource, nowMs: number): object {
  const times = { startTimeUnixNano: nanos(source.startedAtMs), timeUnixNano: nanos(nowMs) }
  const metrics = [...readFamilies(text)].flatMap(([name, family]) => {
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

function readFamilies(text: string): Map<string, Family> {
  const families = new Map<string, Family>()
  const familyOf = (name: string): Family => {
    const family = families.get(name) ?? { help: '', type: 'untyped', series: new Map() }
    families.set(name, family)
    return family
  }
  for (const line of text.split('\n')) {
    const comment = /^# (HELP|TYPE) (\S+) ?(.*)$/.exec(line)
    if (comment) {
      const [, kind, name = '', rest = ''] = comment
      familyOf(name)[kind === 'HELP' ? 'help' : 'type'] = rest
      continue
    }
    const read = SERIES.exec(line)
    if (!read) continue
    const [, name = '', labels = '', value = ''] = read
    const { series } = familyOf(families.has(name) ? name : name.replace(PART, ''))
    const known = series.get(name) ?? []
    known.push({ labels: readLabels(labels), value: numberOf(value) })
    series.set(name, known)
  }
  return families
}

type Times = { readonly startTimeUnixNano: string; readonly timeUnixNano: string }

/** Undefined for a family without a number. */
function dataOf(name: string, { type, series }: Family, times: Times): object | undefined {
  if (type === 'histogram') {
    const dataPoints = histogramPoints(name, series, times)
    return dataPoints.length > 0
      ? { histogram: { aggregationTemporality: CUMULATIVE, dataPoints } }
      : undefined
  }
  // JSON has neither NaN nor infinity.
  const dataPoints = (series.get(name) ?? [])
    .filter(({ value }) => Number.isFinite(value))
    .map(({ labels, value }) => ({
      attributes: attributesOf(labels),
      ...times,
      asDouble: value,
    }))
  if (dataPoints.length === 0) return undefined
  return type === 'counter'
    ? { sum: { aggregationTemporality: CUMULATIVE, isMonotonic: true, dataPoints } }
    : { gauge: { dataPoints } }
}

/** Buckets of Prometheus contain those below them, and those of OTLP do not. */
function histogramPoints(
  name: string,
  series: ReadonlyMap<string, readonly Series[]>,
  times: Times,
): object[] {
  const bucketsOf = Map.groupBy(series.get(`${name}_bucket`) ?? [], ({ labels }) =>
    keyOf(withoutBound(labels)),
  )
  const sumOf = new Map(
    (series.get(`${name}_sum`) ?? []).map(({ labels, value }) => [keyOf(labels), value]),
  )
  return [...bucketsOf].map(([key, buckets]) => {
    const sorted = buckets
      .map(({ labels, value }) => ({ bound: numberOf(labels.get('le') ?? ''), value }))
      .toSorted((a, b) => a.bound - b.bound)
    return {
      attributes: attributesOf(withoutBound((buckets[0] as Series).labels)),
      ...times,
      count: String(sorted.at(-1)?.value ?? 0),
      sum: sumOf.get(key) ?? 0,
      explicitBounds: sorted.map(({ bound }) => bound).filter(Number.isFinite),
      bucketCounts: sorted.map(({ value }, place) =>
        String(value - (sorted[place - 1]?.value ?? 0)),
      ),
    }
  })
}

function withoutBound(labels: ReadonlyMap<string, string>): Map<string, string> {
  return new Map([...labels].filter(([name]) => name !== 'le'))
}

function keyOf(labels: ReadonlyMap<string, string>): string {
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

function attributesOf(labels: ReadonlyMap<string, string>): object[] {
  return [...labels].map(([key, value]) => ({ key, value: { stringValue: value } }))
}

function numberOf(text: string): number {
  if (text === '+Inf') return Infinity
  return text === '-Inf' ? -Infinity : Number(text)
}

/** 64-bit numbers are texts in OTLP's JSON. */
function nanos(ms: number): string {
  return `${Math.trunc(ms)}000000`
}
