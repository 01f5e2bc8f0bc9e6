import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createHotCounter, createHotHistogram } from './hot-metrics.ts'
import { mergeMetrics } from './read-metrics.ts'

const RULES = { age: 'max', started: 'min' } as const

test('counters, histograms and gauges are summed by series, and the named gauges are not', () => {
  const one = [
    '# HELP calls_total Calls.',
    '# TYPE calls_total counter',
    'calls_total{model="a",status="200"} 3',
    'calls_total{model="b",status="200"} 1',
    '# HELP age Age.',
    '# TYPE age gauge',
    'age -1',
    '# HELP started Start.',
    '# TYPE started gauge',
    'started 20.5',
  ].join('\n')
  const other = [
    '# HELP calls_total Calls.',
    '# TYPE calls_total counter',
    'calls_total{model="a",status="200"} 4',
    'calls_total{model="a b} 1",status="500"} 2',
    '# HELP age Age.',
    '# TYPE age gauge',
    'age 7',
    '# HELP started Start.',
    '# TYPE started gauge',
    'started 10.25',
  ].join('\n')
  assert.equal(
    mergeMetrics([one, other], RULES),
    `# HELP calls_total Calls.
# TYPE calls_total counter
calls_total{model="a",status="200"} 7
calls_total{model="b",status="200"} 1
calls_total{model="a b} 1",status="500"} 2

# HELP age Age.
# TYPE age gauge
age 7

# HELP started Start.
# TYPE started gauge
started 10.25
`,
  )
})

test('the texts of hot metrics add up: three processes say what one would say', () => {
  const observed = [0.1, 0.4, 0.6, 2, 0.3, 9]
  const textOf = (values: readonly number[]): string => {
    const histogram = createHotHistogram({ name: 'seconds', help: 'S.', buckets: [0.25, 0.5, 1] })
    const counter = createHotCounter({ name: 'calls_total', help: 'C.', labels: ['m', 's'] })
    for (const value of values) {
      histogram.observe(value)
      counter.count(value < 0.5 ? 'quick' : 'slow', '200')
    }
    return `${histogram.text()}\n\n${counter.text()}`
  }
  const parts = [observed.slice(0, 2), observed.slice(2, 3), observed.slice(3)].map(textOf)
  const sorted = (text: string): string[] => text.split('\n').filter(Boolean).toSorted()
  assert.deepEqual(sorted(mergeMetrics(parts, RULES)), sorted(textOf(observed)))
})
