import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { toOtlpMetrics } from './to-otlp-metrics.ts'

const source = { serviceName: 'catraca', version: '0.1.0', startedAtMs: 1_000 }
const times = { startTimeUnixNano: '1000000000', timeUnixNano: '2500000000' }

async function convert(registry: Registry): Promise<any> {
  const body: any = toOtlpMetrics(await registry.metrics(), source, 2_500)
  return body.resourceMetrics[0].scopeMetrics[0].metrics
}

test('a counter becomes a cumulative sum, with its labels as they were', async () => {
  const registry = new Registry()
  const counter = new Counter({
    name: 'calls_total',
    help: 'Calls.',
    labelNames: ['model'],
    registers: [registry],
  })
  counter.inc({ model: 'a "quoted" \\ one\nin two lines, {with} all=that' }, 3)
  counter.inc({ model: 'b' }, 0.5)
  assert.deepEqual(await convert(registry), [
    {
      name: 'calls_total',
      description: 'Calls.',
      sum: {
        aggregationTemporality: 2,
        isMonotonic: true,
        dataPoints: [
          {
            attributes: [
              {
                key: 'model',
                value: { stringValue: 'a "quoted" \\ one\nin two lines, {with} all=that' },
              },
            ],
            ...times,
            asDouble: 3,
          },
          {
            attributes: [{ key: 'model', value: { stringValue: 'b' } }],
            ...times,
            asDouble: 0.5,
          },
        ],
      },
    },
  ])
})

test('a gauge keeps its value, and what is no number is left out', async () => {
  const registry = new Registry()
  const registers = [registry]
  new Gauge({ name: 'open', help: 'Open.', registers }).set(-2.5)
  new Gauge({ name: 'unknown', help: 'Unknown.', registers }).set(NaN)
  assert.deepEqual(await convert(registry), [
    {
      name: 'open',
      description: 'Open.',
      gauge: { dataPoints: [{ attributes: [], ...times, asDouble: -2.5 }] },
    },
  ])
})

test('each value of a histogram is in one bucket, of the series with its labels', async () => {
  const registry = new Registry()
  const histogram = new Histogram({
    name: 'wait_seconds',
    help: 'Wait.',
    labelNames: ['kind'],
    buckets: [0.1, 1],
    registers: [registry],
  })
  for (const value of [0.05, 0.5, 0.75, 3]) histogram.observe({ kind: 'x' }, value)
  histogram.observe({ kind: 'y' }, 9)
  const [metric] = await convert(registry)
  assert.equal(metric.histogram.aggregationTemporality, 2)
  assert.deepEqual(metric.histogram.dataPoints, [
    {
      attributes: [{ key: 'kind', value: { stringValue: 'x' } }],
      ...times,
      count: '4',
      sum: 4.3,
      explicitBounds: [0.1, 1],
      bucketCounts: ['1', '2', '1'],
    },
    {
      attributes: [{ key: 'kind', value: { stringValue: 'y' } }],
      ...times,
      count: '1',
      sum: 9,
      explicitBounds: [0.1, 1],
      bucketCounts: ['0', '0', '1'],
    },
  ])
})

test('the body says which service and release it is of', () => {
  const body: any = toOtlpMetrics('', source, 2_500)
  assert.deepEqual(body.resourceMetrics[0].resource.attributes, [
    { key: 'service.name', value: { stringValue: 'catraca' } },
    { key: 'service.version', value: { stringValue: '0.1.0' } },
  ])
})
