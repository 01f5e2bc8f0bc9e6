/** A series of a metric in the text format of Prometheus. */
export interface MetricSeries {
  /** With its ending in a histogram, such as `_bucket`. */
  readonly name: string
  /** As written, with the braces; empty without labels. */
  readonly labels: string
  readonly value: number
}

export interface MetricFamily {
  /** The lines of HELP and TYPE. */
  readonly head: readonly string[]
  readonly help: string
  readonly type: string
  readonly series: readonly MetricSeries[]
}

const SERIES = /^(\S+?)(\{.*\})? (\S+)$/
const COMMENT = /^# (HELP|TYPE) (\S+) ?(.*)$/
const HISTOGRAM_PART = /_(?:bucket|sum|count)$/

/**
 * Returns the families by their names, in the order of the text; lines that are neither a comment nor a series are
 * skipped.
 */
export function readMetrics(text: string): Map<string, MetricFamily> {
  const families = new Map<string, ReturnType<typeof emptyFamily>>()
  const familyOf = (name: string) => {
    const family = families.get(name) ?? emptyFamily()
    families.set(name, family)
    return family
  }
  for (const line of text.split('\n')) {
    const comment = COMMENT.exec(line)
    if (comment) {
      const [, kind, name = '', rest = ''] = comment
      const family = familyOf(name)
      family.head.push(line)
      family[kind === 'HELP' ? 'help' : 'type'] = rest
      continue
    }
    const read = SERIES.exec(line)
    if (!read) continue
    const [, name = '', labels = '', value = ''] = read
    const family = families.has(name) ? name : name.replace(HISTOGRAM_PART, '')
    familyOf(family).series.push({ name, labels, value: readMetricValue(value) })
  }
  return families
}

export function readMetricValue(text: string): number {
  if (text === '+Inf') return Infinity
  return text === '-Inf' ? -Infinity : Number(text)
}

function emptyFamily() {
  return { head: [] as string[], help: '', type: 'untyped', series: [] as MetricSeries[] }
}

/**
 * One text of metrics for all processes of a server, from the texts of each in the Prometheus format. Counters and
 * histograms are summed. So are gauges, because most of them count what a process has; those of `rules` are not.
 */
export type MergeRule = 'max' | 'min'

interface Merged {
  /** The lines of HELP and TYPE, each once. */
  readonly head: Set<string>
  /** By the series, with its labels. */
  readonly values: Map<string, number>
}

export function mergeMetrics(
  texts: readonly string[],
  rules: Readonly<Record<string, MergeRule>>,
): string {
  const families = new Map<string, Merged>()
  for (const text of texts)
    for (const [family, { head, series }] of readMetrics(text)) {
      const merged = families.get(family) ?? { head: new Set(), values: new Map() }
      families.set(family, merged)
      for (const line of head) merged.head.add(line)
      for (const { name, labels, value } of series) {
        const known = merged.values.get(name + labels)
        const next = known === undefined ? value : merge(rules[family], known, value)
        merged.values.set(name + labels, next)
      }
    }
  return [...families.values()]
    .map(({ head, values }) =>
      [...head, ...[...values].map(([series, value]) => `${series} ${textOf(value)}`)].join('\n'),
    )
    .join('\n\n')
    .concat('\n')
}

function merge(rule: MergeRule | undefined, one: number, other: number): number {
  if (rule === 'max') return Math.max(one, other)
  return rule === 'min' ? Math.min(one, other) : one + other
}

function textOf(value: number): string {
  if (value === Infinity) return '+Inf'
  return value === -Infinity ? '-Inf' : String(Number.isNaN(value) ? 'NaN' : value)
}
