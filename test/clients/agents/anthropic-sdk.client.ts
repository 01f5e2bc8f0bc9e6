/** `@anthropic-ai/sdk`: only its address and its key are set. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { assertAudit } from '../../harness/assert-audit.ts'
import { MODELS, startAgentsGateway, type AgentsGateway } from './agents-gateway.ts'
import { runClient } from './run-client.ts'

let agents: AgentsGateway

before(async () => {
  agents = await startAgentsGateway()
})

after(() => agents.stop())

for (const [format, model] of Object.entries(MODELS))
  test(`the SDK’s plain and streamed answers, loops of tools, counts, models and errors work over an upstream of ${format}, and are charged by the upstream’s count`, async () => {
    const { code, stdout, stderr } = await runClient(
      process.execPath,
      [join(import.meta.dirname, './anthropic-sdk-program.mjs')],
      { ANTHROPIC_BASE_URL: agents.origin, ANTHROPIC_API_KEY: agents.gateway.secret, MODEL: model },
    )
    assert.equal(code, 0, stderr)
    const { plain, streamed, text, asked, answered, counted, models, errors } = JSON.parse(stdout)
    assert.match(plain.content[0].text, /Olá, catraca!/)
    assert.equal(plain.stop_reason, 'end_turn')
    assert.equal(text, plain.content[0].text)
    assert.deepEqual(streamed.content, plain.content)
    // The SDK keeps the lifetimes of cache writes from a stream's beginning only, when nobody knows them yet.
    const { cache_creation: _lifetimes, ...usage } = plain.usage
    assert.deepEqual(streamed.usage, usage)
    assert.deepEqual(asked, [
      ['clima', { cidade: 'Recife' }],
      ['clima', { cidade: 'Belém' }],
    ])
    assert.match(answered.content[0].text, /A ferramenta clima devolveu: “sol”/)
    assert.ok(counted.input_tokens > 0)
    assert.ok(models.some(([type, id]: [string, string]) => type === 'model' && id === model))
    assert.deepEqual(errors, [
      { isKnown: true, name: 'NotFoundError', status: 404, type: 'not_found_error' },
      { isKnown: true, name: 'BadRequestError', status: 400, type: 'invalid_request_error' },
      { isKnown: true, name: 'AuthenticationError', status: 401, type: 'authentication_error' },
      { isKnown: true, name: 'AuthenticationError', status: 401, type: 'authentication_error' },
    ])
    await agents.assertCharges(5)
  })

test('the SDK makes, reads, lists, cancels and deletes batches', async () => {
  const { code, stdout, stderr } = await runClient(
    process.execPath,
    [join(import.meta.dirname, './anthropic-batches-program.mjs')],
    {
      ANTHROPIC_BASE_URL: agents.origin,
      ANTHROPIC_API_KEY: agents.gateway.secret,
      MODEL: 'sandbox-chat',
    },
  )
  assert.equal(code, 0, stderr)
  const batches = JSON.parse(stdout)
  const { created, ended, results, canceled, ofCanceled, listed, deleted } = batches
  assert.equal(created.processing_status, 'in_progress')
  assert.deepEqual([ended.request_counts.succeeded, ended.request_counts.errored], [1, 1])
  assert.deepEqual(
    results.map(({ custom_id: name, result }: any) => [name, result.type]),
    [
      ['boa', 'succeeded'],
      ['errada', 'errored'],
    ],
  )
  assert.match(results[0].result.message.content[0].text, /Olá, catraca!/)
  assert.equal(results[1].result.error.error.type, 'not_found_error')
  assert.equal(batches.canceling.processing_status, 'canceling')
  assert.equal(canceled.request_counts.canceled, 1)
  assert.deepEqual(ofCanceled, [{ custom_id: 'lenta', result: { type: 'canceled' } }])
  assert.deepEqual(listed, [canceled.id, created.id])
  assert.deepEqual(deleted, { id: created.id, type: 'message_batch_deleted' })
  assert.deepEqual(batches.error, { isKnown: true, name: 'NotFoundError' })
  await assertAudit(agents.gateway.database)
})
