/** A collector sees the parts of each call: plain, streamed, refused and failed; and never what was said in it. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ask, type Asked } from '../harness/ask.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import {
  startOtlpCollector,
  type CollectedSpan,
  type OtlpCollector,
} from '../harness/otlp-collector.ts'
import { seedCustomer } from '../harness/test-database.ts'

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736'
const CALLER = '00f067aa0ba902b7'
const SAID = 'uma frase que ninguém mais diz'

let collector: OtlpCollector
let gateway: TestGateway
let log: readonly string[]
let plain: Asked
let streamed: Asked
let refused: Asked
let failed: Asked
let secrets: string[]

before(async () => {
  collector = await startOtlpCollector()
  gateway = await startGateway({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url })
  const origin = gateway.node.baseUrl.replace('/v1', '')
  const chat = (secret: string, model: string, more = {}, headers = {}) => {
    const body = { model, messages: [{ role: 'user', content: SAID }], ...more }
    return ask(origin, '/v1/chat/completions', { secret, body, headers })
  }
  const poor = await seedCustomer(gateway.database.db, { balanceBrl: '0.000001' })
  secrets = [gateway.secret, poor.secret]
  const traceparent = `00-${TRACE_ID}-${CALLER}-00`
  plain = await chat(gateway.secret, 'sandbox-chat', {}, { traceparent })
  streamed = await chat(
    gateway.secret,
    'sandbox-chat',
    { stream: true },
    { traceparent: 'no trace' },
  )
  refused = await chat(poor.secret, 'sandbox-chat')
  failed = await chat(gateway.secret, 'sandbox-error-500')
  log = gateway.node.log
  // The spans that wait are sent at the stop.
  await gateway.stop()
})

after(() => collector.close())

/** The span of a call, and its parts in the order in which they ended. */
function traceOf({ requestId }: Asked): { root: CollectedSpan; parts: CollectedSpan[] } {
  const roots = collector.spans.filter(
    ({ attributes }) => attributes['catraca.request_id'] === requestId,
  )
  assert.equal(roots.length, 1)
  const [root] = roots as [CollectedSpan]
  const parts = collector.spans.filter(
    ({ traceId, spanId }) => traceId === root.traceId && spanId !== root.spanId,
  )
  for (const { parentSpanId, name } of parts) assert.equal(parentSpanId, root.spanId, name)
  return { root, parts }
}

const namesOf = (parts: readonly CollectedSpan[]): string[] => parts.map(({ name }) => name)

test('an answered call, plain or streamed, shows each of its parts once', () => {
  for (const [call, stream] of [
    [plain, false],
    [streamed, true],
  ] as const) {
    assert.equal(call.status, 200)
    const { root, parts } = traceOf(call)
    assert.deepEqual(namesOf(parts), ['admit', 'hold', 'chat sandbox-chat', 'relay', 'settle'])
    assert.deepEqual(
      parts.filter(({ isError }) => isError),
      [],
    )
    assert.equal(root.attributes['http.response.status_code'], 200)
    assert.equal(root.attributes['catraca.stream'], stream)
    assert.equal(root.attributes['gen_ai.request.model'], 'sandbox-chat')
    assert.ok(Number(root.attributes['gen_ai.usage.output_tokens']) > 0)
    const attempt = parts[2]?.attributes
    assert.equal(attempt?.['gen_ai.operation.name'], 'chat')
    assert.notEqual(attempt?.['catraca.upstream'], '')
    assert.equal(parts[4]?.attributes['catraca.outcome'], 'charged')
    assert.equal(parts[4]?.attributes['catraca.resolved'], 'committed')
  }
})

test('a call joins the trace of its caller, whose flag does not decide, and a wrong header begins a new one', () => {
  const { root } = traceOf(plain)
  assert.equal(root.traceId, TRACE_ID)
  assert.equal(root.parentSpanId, CALLER)
  assert.equal(traceOf(streamed).root.parentSpanId, undefined)
})

test('a call without balance ends at its hold', () => {
  assert.equal(refused.status, 402)
  const { root, parts } = traceOf(refused)
  assert.deepEqual([...new Set(namesOf(parts))], ['admit', 'hold'])
  assert.equal(root.attributes['http.response.status_code'], 402)
  assert.equal(root.attributes['error.type'], refused.json.error.code)
  assert.equal(root.isError, false)
})

test('a failing upstream shows every try with its reason, and the release', () => {
  assert.ok(failed.status >= 500)
  const { root, parts } = traceOf(failed)
  const tries = parts.filter(({ name }) => name === 'chat sandbox-error-500')
  assert.ok(tries.length > 0)
  for (const { isError, attributes } of tries) {
    assert.ok(isError)
    assert.equal(attributes['error.type'], 'server_error')
    assert.equal(Number(attributes['http.response.status_code']), 500)
  }
  assert.equal(parts.at(-1)?.name, 'settle')
  assert.equal(parts.at(-1)?.attributes['catraca.outcome'], 'released')
  assert.ok(root.isError)
})

test('a line of the log names the trace', () => {
  const { root } = traceOf(failed)
  const line = log.find((line) => line.includes('"upstream_failed"'))
  assert.ok(line?.includes(root.traceId), line)
})

test('neither prompts nor keys leave for the collector', () => {
  for (const text of collector.texts)
    for (const secret of [SAID, ...secrets]) assert.ok(!text.includes(secret))
})
