import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Counter, Histogram, Registry } from 'prom-client'
import { createHotCounter, createHotHistogram } from './hot-metrics.ts'

const buckets = [0.0005, 0.001, 1, 2.5]
const values = [0, 0.0005, 0.00051, 0.5, 1, 1.5, 2.5, 2.6, 1000]

test("a histogram equals prom-client's for the same values", async () => {
  const plain = { name: 'plain_seconds', help: 'Help with a \\ in it.', buckets }
  const labelled = { name: 'labelled_seconds', help: 'Help.', buckets }
  const ours = [
    createHotHistogram(plain),
    createHotHistogram({ ...labelled, labels: ['of'] }),
  ] as const
  const registry = new Registry()
  const theirs = [
    new Histogram({ ...plain, registers: [registry] }),
    new Histogram({ ...labelled, labelNames: ['of'], registers: [registry] }),
  ] as const
  const names = ['a', 'with "quotes"\nand \\ more']
  for (const value of values) {
    ours[0].observe(value)
    theirs[0].observe(value)
    for (const of of names) {
      ours[1].observe(value, of)
      theirs[1].observe({ of }, value)
    }
  }
  assert.equal(textOf(ours), await registry.metrics())
})

test("a histogram with three labels equals prom-client's", async () => {
  const same = { name: 'three_seconds', help: 'Help.', buckets }
  const labels = ['model', 'status_class', 'stream'] as const
  const ours = createHotHistogram({ ...same, labels })
  const registry = new Registry()
  const theirs = new Histogram({ ...same, labelNames: labels, registers: [registry] })
  for (const [place, value] of values.entries()) {
    const model = `m${place % 2}`
    const status_class = place % 3 === 0 ? '2xx' : '4xx'
    const stream = place % 4 === 0 ? 'true' : 'false'
    ours.observe(value, model, status_class, stream)
    theirs.observe({ model, status_class, stream }, value)
  }
  assert.deepEqual(linesOf(textOf([ours])), linesOf(await registry.metrics()))
})

test('a histogram without values reports zeros', async () => {
  const plain = { name: 'plain_seconds', help: 'Help.', buckets }
  const registry = new Registry()
  new Histogram({ ...plain, registers: [registry] })
  assert.equal(textOf([createHotHistogram(plain)]), await registry.metrics())
})

test("a counter equals prom-client's for the same counts", async () => {
  const same = { name: 'answers_total', help: 'Help.' }
  const ours = createHotCounter({ ...same, labels: ['model', 'status'] })
  const registry = new Registry()
  const theirs = new Counter({
    ...same,
    labelNames: ['model', 'status'],
    registers: [registry],
  })
  const counted = ['m 200', 'm 200', 'm 402', '"n" 200', 'm 200'].map((text) => text.split(' '))
  for (const [model = '', status = ''] of counted) {
    ours.count(model, status)
    theirs.inc({ model, status })
  }
  assert.deepEqual(linesOf(textOf([ours])), linesOf(await registry.metrics()))
})

function textOf(metrics: readonly { text(): string }[]): string {
  return `${metrics.map((metric) => metric.text()).join('\n\n')}\n`
}

/** The order of series has no meaning. */
function linesOf(text: string): string[] {
  return text.split('\n').toSorted()
}
