/** Rows of the specification on model calls that no other test shows: what goes in, what comes out, and what is left out. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { credit } from '../../src/money/ledger/entries.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { NANO_PER_BRL } from '../../src/platform/lib/money.ts'
import { seedCustomer } from '../harness/test-database.ts'
import { writeConfigFile, type ConfigFile } from '../harness/config-file.ts'
import { ask, askChat, eventsOf, sound, type Asked } from '../harness/ask.ts'
import { assertRefusal } from '../harness/assert-answer.ts'
import { untilNoHoldIsOpen } from '../harness/assert-audit.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { askForm, wav } from '../harness/media-calls.ts'
import { resolutionsOf } from './resolutions-of.ts'
import { startScriptedUpstream, type ScriptedUpstream } from '../harness/scripted-upstream.ts'

let upstream: ScriptedUpstream
let config: ConfigFile
let gateway: TestGateway

before(async () => {
  upstream = await startScriptedUpstream()
  const model = (id: string, max_output_tokens: number, more: object = {}): object => ({
    id,
    category: 'llm',
    prices: { input: 0, output: 100 },
    markup_multiplier: 1,
    routes: [{ upstream: 'seen', model: id }],
    context_tokens: 128_000,
    max_output_tokens,
    ...more,
  })
  config = await writeConfigFile({
    upstreams: [{ id: 'seen', kind: 'openai-compatible', base_url: upstream.baseUrl }],
    models: [
      model('curto', 10),
      model('longo', 1_000),
      model('sem-ferramentas', 1_000, { supports_tools: false }),
    ] as never,
  })
  gateway = await startGateway({ CATRACA_CONFIG: config.path })
})

after(async () => {
  await upstream.close()
  await config.remove()
  await gateway.stop()
})

const chat = (body: unknown, headers?: Record<string, string>): Promise<Asked> =>
  askChat(gateway.node.baseUrl, gateway.secret, body, headers)

const lastBody = (model: string): any => upstream.callsOf(model).at(-1)?.body

test('messages of system, user, assistant and tool reach the model unchanged', async () => {
  const messages = ['system', 'user', 'assistant', 'tool'].map((role) => ({
    role,
    content: `Sou ${role}.`,
    ...(role === 'tool' ? { tool_call_id: 'call_1' } : {}),
  }))
  const answer = await chat({ model: 'longo', messages })
  assert.equal(answer.status, 200, answer.text)
  assert.deepEqual(lastBody('longo').messages, messages)
})

test('temperatures of 0, 1 and 2 and max_tokens of 1 are accepted, and reach the model', async () => {
  for (const temperature of [0, 1, 2]) {
    const answer = await chat(sound('longo', { temperature, max_tokens: 1 }))
    assert.equal(answer.status, 200, answer.text)
    assert.deepEqual(
      [lastBody('longo').temperature, lastBody('longo').max_tokens],
      [temperature, 1],
    )
  }
})

test("without max_tokens the limit is the model's", async () => {
  const heldFor = async (model: string): Promise<bigint> => {
    const answer = await chat(sound(model))
    assert.equal(answer.status, 200, answer.text)
    const [event] = await resolutionsOf(gateway.database, answer.requestId)
    return event?.held_nano_brl as bigint
  }
  // USD 100 a million at 5.2: 520,000 nano-BRL a token.
  assert.deepEqual([await heldFor('curto'), await heldFor('longo')], [5_200_000n, 520_000_000n])
})

test('without stream, or with false, the answer is one JSON; with true, a stream of deltas', async () => {
  for (const more of [{}, { stream: false }, { stream: null }]) {
    const answer = await chat(sound('sandbox-chat', more))
    assert.match(answer.headers.get('content-type') ?? '', /^application\/json\b/)
    assert.equal(answer.json.object, 'chat.completion')
  }
  const plain = (await chat(sound())).json.choices[0].message.content
  const stream = await chat(sound('sandbox-chat', { stream: true }))
  assert.match(stream.headers.get('content-type') ?? '', /^text\/event-stream\b/)
  const deltas = eventsOf(stream.text)
    .slice(0, -1)
    .map((event) => JSON.parse(event).choices[0].delta.content ?? '')
  assert.ok(deltas.filter((text) => text !== '').length > 1, 'it comes in parts')
  assert.equal(deltas.join(''), plain)
})

test('tools are only for models that support them', async () => {
  const tools = [{ type: 'function', function: { name: 'clima', parameters: { type: 'object' } } }]
  assert.equal((await chat(sound('longo', { tools }))).status, 200)
  assert.deepEqual(lastBody('longo').tools, tools)
  assertRefusal(await chat(sound('sem-ferramentas', { tools })), 400, 'invalid_request')
})

test('an answer has the fields of the specification, with their types', async () => {
  const { json, status } = await chat(sound())
  assert.equal(status, 200)
  assert.deepEqual(Object.keys(json).sort(), [
    'choices',
    'cost_billed_brl',
    'created',
    'id',
    'model',
    'object',
    'usage',
  ])
  assert.ok(typeof json.id === 'string' && json.id.length > 0)
  assert.equal(json.object, 'chat.completion')
  assert.ok(Number.isInteger(json.created))
  assert.ok(Math.abs(json.created - Date.now() / 1000) < 30, 'Unix time in seconds')
  assert.equal(json.model, 'sandbox-chat')
  const [choice, ...others] = json.choices
  assert.deepEqual(others, [])
  assert.deepEqual(
    [choice.index, choice.message.role, choice.finish_reason],
    [0, 'assistant', 'stop'],
  )
  assert.equal(typeof choice.message.content, 'string')
  const { prompt_tokens, completion_tokens, total_tokens } = json.usage
  for (const count of [prompt_tokens, completion_tokens, total_tokens])
    assert.ok(Number.isInteger(count) && count > 0)
  assert.equal(total_tokens, prompt_tokens + completion_tokens)
  assert.ok(typeof json.cost_billed_brl === 'number' && json.cost_billed_brl > 0)
})

test('chats with one x-svc-session-id are a session of the customer, without others', async () => {
  const id = randomUUID()
  const { secret } = await seedCustomer(gateway.database.db, { balanceBrl: '10' })
  const own = (headers: Record<string, string>): Promise<Asked> =>
    askChat(gateway.node.baseUrl, secret, sound(), headers)
  const answers = [
    await own({ 'x-svc-session-id': id }),
    await own({ 'x-svc-session-id': randomUUID() }),
    await own({}),
    await own({ 'x-svc-session-id': id }),
  ]
  for (const answer of answers) assert.equal(answer.status, 200, answer.text)
  await untilNoHoldIsOpen(gateway.database)
  const { json } = await ask(gateway.node.baseUrl, `/me/sessions/${id}`, { secret })
  assert.deepEqual([json.session_id, json.request_count], [id, 2])
  assert.deepEqual(
    json.events.map((event: any) => [event.request_id, event.session_id]),
    [answers[0], answers[3]].map((answer) => [answer?.requestId, id]),
  )
})

test('embeddings of one text and of several: a vector of 1,536 numbers for each', async () => {
  for (const input of ['um texto', ['um texto', 'outro', 'mais um']]) {
    const body = { model: 'text-embedding-3-small', input }
    const { json, status } = await ask(gateway.node.baseUrl, '/embeddings', {
      secret: gateway.secret,
      body,
    })
    assert.equal(status, 200)
    assert.equal(typeof json.object, 'string')
    assert.equal(json.data.length, [input].flat().length)
    for (const { embedding } of json.data) {
      assert.equal(embedding.length, 1_536)
      assert.ok(embedding.every((value: unknown) => typeof value === 'number'))
    }
  }
})

test('without n there is one image, of the requested size, and its answer has a url', async () => {
  const draw = async (more: object): Promise<any> => {
    const answer = await ask(gateway.node.baseUrl, '/images/generations', {
      secret: gateway.secret,
      body: { model: 'sandbox-image', prompt: 'Uma catraca.', ...more },
    })
    assert.equal(answer.status, 200, answer.text)
    return answer.json.data
  }
  const [image, ...others] = await draw({ size: '512x512' })
  assert.deepEqual([Object.keys(image), others], [['url'], []])
  const png = Buffer.from(await (await fetch(image.url)).arrayBuffer())
  assert.deepEqual([png.readUInt32BE(16), png.readUInt32BE(20)], [512, 512])
  assert.equal((await draw({ n: 2 })).length, 2)
})

test('a transcription accepts a form with file and model, or file alone, and answers with text', async () => {
  for (const fields of [[], [['model', 'whisper-1']]] as const) {
    const parts = [...fields, ['file', wav(2), 'fala.wav']] as never
    const answer = await askForm(gateway.node.baseUrl, gateway.secret, parts)
    assert.equal(answer.status, 200, answer.text)
    assert.ok(typeof answer.json.text === 'string' && answer.json.text.length > 0)
  }
})

test('a call that uses up the balance suspends every key of the customer until a credit', async () => {
  const { baseUrl } = gateway.node
  // Five tokens at USD 100 a million and 5.2.
  const { secret, customerId } = await seedCustomer(gateway.database.db, { balanceBrl: '0.0026' })
  const input = { name: 'outra', model_ids: ['curto', 'longo'] }
  const made = await ask(baseUrl, '/api-keys', { secret, body: input })
  const secrets = [secret, made.json.key]
  const statuses = async (): Promise<string[]> =>
    (await ask(baseUrl, '/api-keys', { secret })).json.api_keys.map((key: any) => key.status)
  const call = (key: string): Promise<Asked> =>
    askChat(baseUrl, key, sound('longo', { max_tokens: 5 }))
  assert.deepEqual(await statuses(), ['active', 'active'])
  assert.equal((await call(secret)).status, 200)
  const { json } = await ask(baseUrl, '/usage', { secret })
  assert.equal(json.balance.balance_brl, 0)
  assert.deepEqual(await statuses(), ['suspended', 'suspended'])
  for (const key of secrets) assertRefusal(await call(key), 402, 'insufficient_balance')
  await credit(gateway.database.db, {
    customerId,
    amountNanoBrl: NANO_PER_BRL,
    reason: 'top_up',
    reference: createId(),
  })
  assert.deepEqual(await statuses(), ['active', 'active'])
  for (const key of secrets) assert.equal((await call(key)).status, 200)
})
