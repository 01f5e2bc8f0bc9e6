/**
 * One text of metrics for all processes of a server, from the texts of each in the Prometheus format. Counters and
 * histograms are summed. So are gauges, because most of them count what a process has; those of `rules` are not.
 */
export type MergeRule = 'max' | 'min'

interface Family {
  /** Its lines of HELP and TYPE. */
  readonly head: string[]
  readonly values: Map<string, number>
}

const SERIES = /^(\S+?)(\{.*\})? (\S+)$/
const HISTOGRAM_PART = /_(bucket|sum|count)$/

export function mergeMetrics(
  texts: readonly string[],
  rules: Readonly<Record<string, MergeRule>>,
): string {
  const families = new Map<string, Family>()
  for (const text of texts) addText(families, text, rules)
  return [...families.values()]
    .map(({ head, values }) =>
      [...head, ...[...values].map(([series, value]) => `${series} ${textOf(value)}`)].join('\n'),
    )
    .join('\n\n')
    .concat('\n')
}

function addText(
  families: Map<string, Family>,
  text: string,
  rules: Readonly<Record<string, MergeRule>>,
): void {
  for (const line of text.split('\n')) {
    if (line === '') continue
    const comment = /^# (?:HELP|TYPE) (\S+)/.exec(line)
    if (comment) {
      const { head } = familyOf(families, comment[1] as string)
      if (!head.includes(line)) head.push(line)
      continue
    }
    const series = SERIES.exec(line)
    if (!series) continue
    const [, name = '', labels = '', value] = series
    const family = families.has(name) ? name : name.replace(HISTOGRAM_PART, '')
    const { values } = familyOf(families, family)
    const known = values.get(name + labels)
    const next = Number(value === '+Inf' ? Infinity : value)
    values.set(name + labels, known === undefined ? next : merge(rules[family], known, next))
  }
}

function familyOf(families: Map<string, Family>, name: string): Family {
  const family = families.get(name) ?? { head: [], values: new Map() }
  families.set(name, family)
  return family
}

function merge(rule: MergeRule | undefined, one: number, other: number): number {
  if (rule === 'max') return Math.max(one, other)
  return rule === 'min' ? Math.min(one, other) : one + other
}

function textOf(value: number): string {
  if (value === Infinity) return '+Inf'
  return value === -Infinity ? '-Inf' : String(Number.isNaN(value) ? 'NaN' : value)
}
