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
