// Batches of `@anthropic-ai/sdk` as its users write them. Prints what came back as JSON.
import { setTimeout as sleep } from 'node:timers/promises'
import Anthropic, { APIError } from '@anthropic-ai/sdk'

const { MODEL: model } = process.env
const client = new Anthropic()
const params = { model, max_tokens: 1_000, messages: [{ role: 'user', content: 'Olá, catraca!' }] }

async function untilEnded(id) {
  for (;;) {
    const batch = await client.messages.batches.retrieve(id)
    if (batch.processing_status === 'ended') return batch
    await sleep(200)
  }
}

async function resultsOf(id) {
  const results = []
  for await (const result of await client.messages.batches.results(id)) results.push(result)
  return results
}

const created = await client.messages.batches.create({
  requests: [
    { custom_id: 'boa', params },
    { custom_id: 'errada', params: { ...params, model: 'claude-99' } },
  ],
})
const ended = await untilEnded(created.id)
const results = await resultsOf(created.id)

const waiting = await client.messages.batches.create({
  requests: [{ custom_id: 'lenta', params: { ...params, model: 'sandbox-error-429' } }],
})
const canceling = await client.messages.batches.cancel(waiting.id)
const canceled = await untilEnded(waiting.id)
const ofCanceled = await resultsOf(waiting.id)

const listed = []
for await (const { id } of client.messages.batches.list({ limit: 1 })) listed.push(id)
const deleted = await client.messages.batches.delete(created.id)
const error = await client.messages.batches.retrieve(created.id).then(
  () => undefined,
  (thrown) => ({ isKnown: thrown instanceof APIError, name: thrown.constructor.name }),
)

process.stdout.write(
  JSON.stringify({
    created,
    ended,
    results,
    canceling,
    canceled,
    ofCanceled,
    listed,
    deleted,
    error,
  }),
)
