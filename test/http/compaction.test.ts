/** Conversations that are summarised: over real sockets, charged as calls, and refused to strangers. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { decimalBrl } from '../../src/platform/lib/money.ts'
import { ask, billedIn, type Asked } from '../harness/ask.ts'
import { assertHeaders, assertRefusal } from '../harness/assert-answer.ts'
import { assertAudit, untilNoHoldIsOpen } from '../harness/assert-audit.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { configured, outcomesOf, theOutcome } from '../harness/media-calls.ts'
import {
  GOOD_TEXT,
  good,
  startScriptedUpstream,
  type ScriptedUpstream,
} from '../harness/scripted-upstream.ts'
import { seedCustomer } from '../harness/test-database.ts'
import {
  assertCompacted,
  assertStreamIsWhole,
  responseEvents,
} from '../responses/assert-response.ts'

let gateway: TestGateway
let upstream: ScriptedUpstream

const MODELS = { chat: {}, native: { speaks_responses: true } }
const BODY_BYTES_MAX = 1024 * 1024

before(async () => {
  upstream = await startScriptedUpstream()
  const entries = Object.entries(MODELS)
  const config = {
    upstreams: entries.map(([id, more]) => ({
      id,
      kind: 'openai-compatible',
      base_url: upstream.baseUrl,
      retries: 0,
      ...more,
    })),
    models: entries.map(([id]) => ({
      id,
      category: 'llm',
      prices: { input: 1, output: 2 },
      markup_multiplier: '1.5',
      routes: [{ upstream: id, model: id }],
      context_tokens: 1_000_000,
      max_output_tokens: 50_000,
      supports_tools: true,
    })),
  }
  gateway = await startGateway({ ...configured(config), BODY_BYTES_MAX: String(BODY_BYTES_MAX) })
  for (const [id] of entries) upstream.play(id, good)
})

after(async () => {
  await gateway.stop()
  await upstream.close()
})

const newCustomer = (balanceBrl = '100') => seedCustomer(gateway.database.db, { balanceBrl })

function call(secret: string, path: string, body: object): Promise<Asked> {
  return ask(gateway.node.baseUrl, path, { secret, body: { model: 'chat', ...body } })
}

const SAID = [
  { role: 'user', content: 'Quero um teste.' },
  { role: 'assistant', content: 'Feito.' },
]

function lastBody(model: string): any {
  return upstream.callsOf(model).at(-1)?.body
}

for (const model of Object.keys(MODELS))
  test(`a conversation is compacted by either way, charged as a call of its model, and goes on from its summary, over ${model}`, async () => {
    const { secret } = await newCustomer()
    const triggered = { model, input: [...SAID, { type: 'compaction_trigger' }] }
    for (const [path, body] of [
      ['/responses/compact', { model, input: SAID }],
      ['/responses', triggered],
      ['/responses', { ...triggered, stream: true }],
    ] as const) {
      const answer = await call(secret, path, body)
      assert.equal(answer.status, 200, answer.text)
      assertHeaders(answer, answer.requestId)
      const sent = lastBody(model)
      assert.ok(Array.isArray(sent.messages), 'the summary is asked for as a chat')
      assert.ok((sent.max_tokens ?? sent.max_completion_tokens) <= 32_768)
      const response: any =
        'stream' in body ? assertStreamIsWhole(responseEvents(answer.text)) : answer.json
      if (path.endsWith('compact')) assertCompacted(response)
      const { output } = response
      assert.equal(output.filter(({ type }: any) => type === 'compaction').length, 1)
      assert.equal(output.at(-1).type, 'compaction')
      assert.ok(!answer.text.includes(GOOD_TEXT), 'the summary is sealed')
      const event = await theOutcome(gateway, answer.requestId)
      assert.deepEqual([event.outcome, event.usage_kind], ['charged', 'exact'])
      assert.equal(event.prompt_tokens, response.usage.input_tokens)
      assert.equal(billedIn(answer.text), decimalBrl(event.cost_billed_nano_brl))
      const input = [...output, { role: 'user', content: 'E agora?' }]
      upstream.play(model, model === 'native' ? natively : good)
      const next = await call(secret, '/responses', { model, input })
      upstream.play(model, good)
      assert.equal(next.status, 200, next.text)
      const sentNext = JSON.stringify(lastBody(model))
      assert.ok(sentNext.includes(GOOD_TEXT), 'the model reads the summary')
      assert.ok(!sentNext.includes('encrypted_content'))
      const stranger = await newCustomer()
      const stolen = await call(stranger.secret, '/responses', { model, input })
      assertRefusal(stolen, 400, 'invalid_request')
      assert.deepEqual(await outcomesOf(gateway, stolen.requestId), [])
    }
  })

const natively: typeof good = (_call, response) =>
  void response.writeHead(200, { 'content-type': 'application/json' }).end(
    JSON.stringify({
      id: 'resp_theirs',
      object: 'response',
      status: 'completed',
      output: [
        {
          id: 'msg_theirs',
          type: 'message',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: GOOD_TEXT, annotations: [] }],
        },
      ],
      usage: { input_tokens: 11, output_tokens: 5, total_tokens: 16 },
    }),
  )

test('a stored conversation is compacted by its id, and what continues the summary starts from it', async () => {
  const { secret, customerId } = await newCustomer()
  await gateway.database.db
    .updateTable('customers')
    .set({ stored_responses_days: 7 })
    .where('id', '=', customerId)
    .execute()
  const first = (await call(secret, '/responses', { input: 'Quero um teste.' })).json
  assert.equal(first.store, true)
  const compacted = await call(secret, '/responses/compact', { previous_response_id: first.id })
  assert.equal(compacted.status, 200, compacted.text)
  assert.deepEqual(
    compacted.json.output.map(({ type }: any) => type),
    ['message', 'compaction'],
  )
  assert.deepEqual(
    lastBody('chat')
      .messages.slice(0, 2)
      .map(({ content }: any) => content),
    ['Quero um teste.', GOOD_TEXT],
  )
  const counted = await call(secret, '/responses/input_tokens', { previous_response_id: first.id })
  assert.equal(counted.status, 200, counted.text)
  const again = await call(secret, '/responses', {
    input: [{ type: 'compaction_trigger' }],
    previous_response_id: first.id,
  })
  assert.equal(again.status, 200, again.text)
  const next = await call(secret, '/responses', {
    input: 'E agora?',
    previous_response_id: again.json.id,
  })
  assert.equal(next.status, 200, next.text)
  const texts = lastBody('chat').messages.map(({ content }: any) => content)
  assert.equal(texts.length, 2, 'the conversation is in its summary')
  assert.ok(texts[0].includes(GOOD_TEXT))
  assert.equal(texts[1], 'E agora?')
})

test('a summary counts for the hold and the limit of bodies as any text, also sealed many times', async () => {
  const { secret } = await newCustomer()
  const { json } = await call(secret, '/responses/compact', { input: SAID })
  const item = json.output.at(-1)
  const poor = await newCustomer('0.000001')
  assertRefusal(
    await call(poor.secret, '/responses/compact', { input: SAID }),
    402,
    'insufficient_balance',
  )
  const times = Math.floor((BODY_BYTES_MAX * 0.9) / JSON.stringify(item).length)
  const many = await call(secret, '/responses', {
    input: [...Array.from({ length: times }, () => item), { role: 'user', content: 'E?' }],
  })
  assert.equal(many.status, 200, many.text.slice(0, 500))
  assert.equal(lastBody('chat').messages.length, times + 1)
  const tooMany = Array.from({ length: times * 2 }, () => item)
  assertRefusal(await call(secret, '/responses', { input: tooMany }), 413, 'invalid_request')
})

test('counting the tokens of a request is free, reaches no upstream, and needs no balance', async () => {
  const { secret } = await newCustomer('0')
  const asked = upstream.callsOf('chat').length
  const count = (body: object): Promise<Asked> => call(secret, '/responses/input_tokens', body)
  const short = await count({ input: 'Olá' })
  assert.equal(short.status, 200, short.text)
  assert.deepEqual(Object.keys(short.json), ['object', 'input_tokens'])
  assert.equal(short.json.object, 'response.input_tokens')
  const long = await count({ input: 'palavra '.repeat(1_000), instructions: 'Seja breve.' })
  assert.ok(short.json.input_tokens > 0 && long.json.input_tokens > 1_000)
  assertRefusal(await count({}), 400, 'invalid_request')
  assertRefusal(await count({ model: 'none', input: 'Olá' }), 404, 'model_not_found')
  assert.deepEqual(await outcomesOf(gateway, short.requestId), [])
  assert.equal(upstream.callsOf('chat').length, asked)
  const limited = await seedCustomer(gateway.database.db, { balanceBrl: '1', requestsPerMinute: 3 })
  let refused: Asked | undefined
  // The minute may end once meanwhile.
  for (let left = 7; left > 0 && refused === undefined; left--) {
    const answer = await call(limited.secret, '/responses/input_tokens', { input: 'Olá' })
    if (answer.status !== 200) refused = answer
  }
  assertRefusal(refused as Asked, 429, 'api_key_rate_limited')
})

test('the books are in balance', async () => {
  await untilNoHoldIsOpen(gateway.database)
  await assertAudit(gateway.database)
})
