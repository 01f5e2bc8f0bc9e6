/**
 * Metrics of the hot path, in the Prometheus text format. `prom-client` looks up each series by the text of its labels
 * and each bucket by the text of its bound on every call, which took a twentieth of the gateway's time for a single
 * call (measured). Here a series is looked up by the value of its label, and counting is one addition.
 */

export interface HotHistogram {
  /** `of` is the value of the label, if the metric has one. */
  observe(value: number, of?: string): void
  text(): string
}

export interface HotCounter {
  /** Takes the values of the two labels. */
  count(first: string, second: string): void
  text(): string
}

interface Series {
  /** One count per bucket, not cumulative; the last one is for values above all bounds. */
  readonly counts: number[]
  sum: number
}

export function createHotHistogram(options: {
  readonly name: string
  readonly help: string
  /** Inclusive upper bounds, in ascending order. */
  readonly buckets: readonly number[]
  readonly label?: string
}): HotHistogram {
  const { name, help, buckets, label } = options
  const seriesOf = new Map<string, Series>()
  if (label === undefined) open('')

  function open(of: string): Series {
    const series = { counts: Array.from({ length: buckets.length + 1 }, () => 0), sum: 0 }
    seriesOf.set(of, series)
    return series
  }

  function* lines(): Generator<string> {
    yield* headLines(name, help, 'histogram')
    for (const [of, { counts, sum }] of seriesOf) {
      const own = label === undefined ? [] : [[label, of] as const]
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
    observe(value, of = '') {
      const series = seriesOf.get(of) ?? open(of)
      let place = 0
      while (place < buckets.length && value > (buckets[place] as number)) place += 1
      ;(series.counts[place] as number) += 1
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
