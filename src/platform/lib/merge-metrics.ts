/**
 * One text of metrics for all processes of a server, from the texts of each in the Prometheus format. Counters and
 * histograms are summed. So are gauges, because most of them count what a process has; those of `rules` are not.
 */
import { readMetrics } from './read-metrics.ts'

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
