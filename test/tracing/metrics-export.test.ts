// deep: starts processes
/** The numbers of `/metrics` reach a collector, from one process and from a server with workers. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { BY_OPERATOR, ask } from '../harness/ask.ts'
import { startGatewayProcess, type GatewayProcess } from '../harness/gateway-process.ts'
import { startOtlpCollector } from '../harness/otlp-collector.ts'

const CALLS = 3
const EXPORT = {
  OTEL_METRICS_EXPORTER: 'otlp',
  OTEL_METRIC_EXPORT_INTERVAL: '1000',
  OTEL_TRACES_EXPORTER: 'none',
}

function originOf({ node }: GatewayProcess): string {
  return node.baseUrl.replace('/v1', '')
}

async function chat(gateway: GatewayProcess): Promise<number> {
  const body = { model: 'sandbox-chat', messages: [{ role: 'user', content: 'Olá' }] }
  const { secret } = gateway
  return (await ask(originOf(gateway), '/v1/chat/completions', { secret, body })).status
}

for (const workers of ['1', '2'])
  test(`a collector gets the metrics of the whole server, with WORKERS=${workers}`, async () => {
    const collector = await startOtlpCollector()
    const gateway = await startGatewayProcess({
      ...EXPORT,
      WORKERS: workers,
      OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/`,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-token=um%20segredo, x-other=2',
    })
    try {
      for (let call = 0; call < CALLS; call++) assert.equal(await chat(gateway), 200)
      while (collector.metrics.get('catraca_request_seconds') !== CALLS) await sleep(100)
      const headers = collector.metricsHeaders()
      assert.equal(headers['x-token'], 'um segredo')
      assert.equal(headers['x-other'], '2')
      const { text } = await ask(originOf(gateway), '/metrics', BY_OPERATOR)
      const named = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name))
      assert.deepEqual(
        [...collector.metrics.keys()].filter((name) => !named.has(name)),
        [],
      )
      assert.ok(collector.metrics.size > 40)
      assert.equal(collector.spans.length, 0)
    } finally {
      await gateway.stop()
      collector.close()
    }
  })

test('an unavailable collector delays no call and no stop', async () => {
  const gateway = await startGatewayProcess({
    ...EXPORT,
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
  })
  while (!gateway.node.log.some((line) => line.includes('export_metrics'))) await sleep(100)
  assert.equal(await chat(gateway), 200)
  await gateway.stop()
})
