// deep: starts processes
/** A real server sends what it charged, also when it is killed while it sends. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { ask, askChat } from '../harness/ask.ts'
import { startOtlpCollector } from '../harness/otlp-collector.ts'
import { createTestDatabase, seedCustomer } from '../harness/test-database.ts'
import { startTestNode, type TestNode } from '../harness/test-node.ts'

const database = await createTestDatabase()
const { db, databaseUrl } = database
const collector = await startOtlpCollector()
const env = { WEBHOOKS_ALLOW_PRIVATE: 'true' }
let node: TestNode = await startTestNode({ databaseUrl, env })
after(async () => {
  await node.stop('SIGKILL')
  await node.remove()
  collector.close()
  await database.drop()
})

async function until(isTrue: () => boolean | Promise<boolean>, what: string): Promise<void> {
  for (const endMs = Date.now() + 60_000; !(await isTrue());) {
    assert.ok(Date.now() < endMs, what)
    await sleep(50)
  }
}

/** As if two minutes had passed: charges are sent when they are a minute old. */
async function letTimePass(): Promise<void> {
  await sql`update usage_events set settled_at = settled_at - interval '2 minutes'`.execute(db)
  await sql`update usage_destinations set sent_until = sent_until - interval '2 minutes', due_at = now()`.execute(
    db,
  )
}

test('every charge arrives as one span with the numbers of GET /usage/events, over a kill of the server that sends it', async () => {
  const { secret } = await seedCustomer(db, { balanceBrl: '1000', name: 'produção' })
  const stranger = await seedCustomer(db, { balanceBrl: '1000' })
  const made = await ask(node.baseUrl, '/usage/destinations', {
    secret,
    body: {
      kind: 'langfuse',
      url: collector.url,
      public_key: 'pk-lf-1',
      secret_key: 'sk-lf-muito-secreta',
    },
  })
  assert.equal(made.status, 201, made.text)
  const chat = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'olá' }] }
  const calls = await Promise.all(
    Array.from({ length: 12 }, (_, n) =>
      askChat(node.baseUrl, n % 4 === 3 ? stranger.secret : secret, {
        ...chat,
        stream: n % 2 === 0,
      }),
    ),
  )
  for (const { status, text } of calls) assert.equal(status, 200, text)
  await sleep(200)

  // It has sent the batch, and dies before the answer is recorded.
  let kept = 0
  collector.answer = () => {
    kept += 1
    node.process.kill('SIGKILL')
    return true
  }
  const died = once(node.process, 'exit')
  await letTimePass()
  await died
  assert.equal(kept, 1)
  collector.answer = () => false
  node = await startTestNode({ databaseUrl, env, dataDir: node.dataDir })
  // The lease of the killed one.
  await sql`update usage_destinations set due_at = now()`.execute(db)
  await until(() => collector.spans.length > 0, 'the new server sends')

  const usage = await ask(node.baseUrl, '/usage/events?limit=100', { secret })
  const events: any[] = usage.json.usage_events
  assert.equal(events.length, 9)
  const spanIds = new Set(collector.spans.map(({ spanId }) => spanId))
  assert.equal(spanIds.size, 9)
  for (const event of events) {
    const span = collector.spans.find(
      ({ attributes }) => attributes['catraca.event_id'] === event.id,
    )
    assert.ok(span, event.id)
    const { attributes } = span
    assert.equal(span.traceId, event.request_id.replaceAll('-', ''))
    assert.equal(attributes['catraca.cost_billed_brl'], event.cost_billed_brl)
    assert.equal(Number(attributes['catraca.cost_billed_brl_decimal']), event.cost_billed_brl)
    assert.equal(attributes['catraca.cost_upstream_usd'], event.cost_upstream_usd)
    assert.equal(attributes['gen_ai.usage.input_tokens'], event.prompt_tokens)
    assert.equal(attributes['gen_ai.usage.output_tokens'], event.completion_tokens)
    assert.equal(attributes['catraca.api_key_name'], event.api_key_name)
    assert.equal(attributes['gen_ai.provider.name'], 'openai')
  }
  assert.ok(!collector.texts.join().includes('olá'), 'no content')
  const id = made.json.id
  const state = async () => (await ask(node.baseUrl, `/usage/destinations/${id}`, { secret })).json
  await until(async () => (await state()).sent === 9, 'it is recorded')
  const tested = await ask(node.baseUrl, `/usage/destinations/${id}/test`, {
    secret,
    method: 'POST',
  })
  assert.equal(tested.status, 200, tested.text)
  await until(async () => (await state()).test.tested_at !== null, 'the test is sent')
  assert.equal((await state()).test.error, null)
  assert.ok(!node.log.join().includes('sk-lf-muito-secreta'))
})
