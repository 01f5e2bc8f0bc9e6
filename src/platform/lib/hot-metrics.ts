/**
 * Metrics of the hot path, in the Prometheus text format. `prom-client` looks up each series by the text of its labels
 * and each bucket by the text of its bound on every call, which took a twentieth of the gateway's time for a single
 * call (measured). Here a series is looked up by the value of its label, and counting is one addition.
 */

export interface HotHistogram {
  /** Takes the values of the labels that the metric has, in their order. */
  observe(value: number, first?: string, second?: string, third?: string): void
  text(): string
}

export interface HotCounter {
  /** Takes the values of the two labels. */
  count(first: string, second: string): void
  text(): string
}

interface Series {
  /** The values of the labels. */
  readonly of: readonly string[]
  /** One count per bucket, not cumulative; the last one is for values above all bounds. */
  readonly counts: number[]
  sum: number
}

export function createHotHistogram(options: {
  readonly name: string
  readonly help: string
  /** Inclusive upper bounds, in ascending order. */
  readonly buckets: readonly number[]
  /** Up to three. */
  readonly labels?: readonly string[]
}): HotHistogram {
  const { name, help, buckets, labels = [] } = options
  /** By the values of the three labels. */
  const seriesOf = new Map<string, Map<string, Map<string, Series>>>()
  const all: Series[] = []
  if (labels.length === 0) open('', '', '')

  function open(first: string, second: string, third: string): Series {
    const of = [first, second, third].slice(0, labels.length)
    const series = { of, counts: Array.from({ length: buckets.length + 1 }, () => 0), sum: 0 }
    const seconds = seriesOf.get(first) ?? new Map<string, Map<string, Series>>()
    const thirds = seconds.get(second) ?? new Map<string, Series>()
    seriesOf.set(first, seconds.set(second, thirds.set(third, series)))
    all.push(series)
    return series
  }

  function* lines(): Generator<string> {
    yield* headLines(name, help, 'histogram')
    for (const { of, counts, sum } of all) {
      const own = labels.map((label, index) => [label, of[index] ?? ''] as const)
      let below = 0
      for (const [place, count] of counts.entries()) {
        below += count
        const bound = String(buckets[place] ?? '+Inf')
        yield `${name}_bucket${labelsText([['le', bound], ...own])} ${below}`
      }
      yield `${name}_sum${labelsText(own)} ${sum}`
      yield `${name}_count${labelsText(own)} ${below}`
    }
  }

  return {
    observe(value, first = '', second = '', third = '') {
      const series = seriesOf.get(first)?.get(second)?.get(third) ?? open(first, second, third)
      let index = 0
      while (index < buckets.length && value > (buckets[index] as number)) index += 1
      ;(series.counts[index] as number) += 1
      series.sum += value
    },
    text: () => [...lines()].join('\n'),
  }
}

export function createHotCounter(options: {
  readonly name: string
  readonly help: string
  readonly labels: readonly [string, string]
}): HotCounter {
  const { name, help, labels } = options
  const counts = new Map<string, Map<string, number>>()

  function* lines(): Generator<string> {
    yield* headLines(name, help, 'counter')
    for (const [first, seconds] of counts) {
      for (const [second, count] of seconds) {
        const own = labelsText([
          [labels[0], first],
          [labels[1], second],
        ])
        yield `${name}${own} ${count}`
      }
    }
  }

  return {
    count(first, second) {
      let seconds = counts.get(first)
      if (!seconds) counts.set(first, (seconds = new Map()))
      seconds.set(second, (seconds.get(second) ?? 0) + 1)
    },
    text: () => [...lines()].join('\n'),
  }
}

function headLines(name: string, help: string, type: string): string[] {
  return [`# HELP ${name} ${help.replaceAll('\\', '\\\\')}`, `# TYPE ${name} ${type}`]
}

function labelsText(labels: readonly (readonly [name: string, value: string])[]): string {
  if (labels.length === 0) return ''
  return `{${labels.map(([name, value]) => `${name}="${escaped(value)}"`).join(',')}}`
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"')
}
