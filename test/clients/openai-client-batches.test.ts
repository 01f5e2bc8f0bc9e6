// deep: client libraries
/** Files and batches of the official `openai` client, as its users write them. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import OpenAI, { NotFoundError, toFile } from 'openai'
import { assertAudit } from '../harness/assert-audit.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'

let gateway: TestGateway
let client: OpenAI

before(async () => {
  gateway = await startGateway()
  client = new OpenAI({ baseURL: gateway.node.baseUrl, apiKey: gateway.secret, maxRetries: 0 })
})
after(() => gateway.stop())

const QUESTION = 'Olá, catraca!'
const BODIES = {
  '/v1/chat/completions': {
    model: 'sandbox-chat',
    messages: [{ role: 'user', content: QUESTION }],
  },
  '/v1/completions': { model: 'sandbox-chat', prompt: QUESTION, max_tokens: 100 },
  '/v1/responses': { model: 'sandbox-chat', input: QUESTION },
  '/v1/embeddings': { model: 'sandbox-embedding', input: QUESTION },
  '/v1/moderations': { model: 'sandbox-moderation', input: QUESTION },
} as const

async function begin(
  endpoint: keyof typeof BODIES,
  body: object = BODIES[endpoint],
): Promise<OpenAI.Batch> {
  const lines = ['um', 'dois'].map((custom_id) =>
    JSON.stringify({ custom_id, method: 'POST', url: endpoint, body }),
  )
  const file = await client.files.create({
    file: await toFile(Buffer.from(lines.join('\n')), 'linhas.jsonl'),
    purpose: 'batch',
  })
  assert.equal((await client.files.retrieve(file.id)).filename, 'linhas.jsonl')
  return client.batches.create({ input_file_id: file.id, endpoint, completion_window: '24h' })
}

async function untilEnded(id: string): Promise<OpenAI.Batch> {
  for (const deadline = Date.now() + 60_000; ; await sleep(100)) {
    const batch = await client.batches.retrieve(id)
    if (!['in_progress', 'cancelling'].includes(batch.status)) return batch
    assert.ok(Date.now() < deadline, batch.status)
  }
}

test('a file becomes a batch of each call, whose results are downloaded', async () => {
  for (const endpoint of Object.keys(BODIES) as (keyof typeof BODIES)[]) {
    const { id } = await begin(endpoint)
    const batch = await untilEnded(id)
    assert.deepEqual([batch.status, batch.request_counts?.completed], ['completed', 2], endpoint)
    const content = await (await client.files.content(batch.output_file_id as string)).text()
    const results = content
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    assert.deepEqual(
      results.map((line) => [line.custom_id, line.response.status_code, line.error]),
      [
        ['um', 200, null],
        ['dois', 200, null],
      ],
    )
    assert.ok(results.every((line) => line.response.body.usage.total_tokens > 0))
  }
  const listed: string[] = []
  for await (const { id } of client.batches.list({ limit: 2 })) listed.push(id)
  assert.equal(listed.length, Object.keys(BODIES).length)
  const files: string[] = []
  for await (const { id, purpose } of client.files.list({ limit: 3 }))
    files.push(`${purpose} ${id}`)
  assert.equal(files.length, 2 * listed.length)
  for (const file of files) await client.files.delete(file.split(' ')[1] as string)
  await assertAudit(gateway.database)
})

test('a batch is canceled, and what does not exist is not found', async () => {
  const { id } = await begin('/v1/chat/completions', {
    ...BODIES['/v1/chat/completions'],
    model: 'sandbox-error-429',
  })
  assert.equal((await client.batches.cancel(id)).status, 'cancelling')
  const canceled = await untilEnded(id)
  assert.deepEqual([canceled.status, canceled.request_counts?.failed], ['cancelled', 2])
  await assert.rejects(client.batches.retrieve('batch_none'), NotFoundError)
  await assert.rejects(client.files.content('file-none'), NotFoundError)
})
