/** A saved prompt as the model of a call, in every format, over a socket. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createApiKey } from '../../src/customers/api-keys.ts'
import { ask, type Asked } from '../harness/ask.ts'
import { assertAudit } from '../harness/assert-audit.ts'
import { writeConfigFile, type ConfigFile } from '../harness/config-file.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { startScriptedUpstream, type ScriptedUpstream } from '../harness/scripted-upstream.ts'
import { seedCustomer } from '../harness/test-database.ts'

const TEXT = 'Você responde como um marinheiro.'
const ASKED = 'Olá, como vai?'
const USER = { role: 'user', content: ASKED }

interface Format {
  path(model: string): string
  /** With an own system text, if the format has one. */
  readonly body: (system?: string) => object
  readonly limits: (fields: { max?: number; temperature?: number }) => object
  readonly modelOf: (answer: any) => unknown
}

const FORMATS: Readonly<Record<string, Format>> = {
  'chat completions': {
    path: () => '/chat/completions',
    body: (system) => ({
      messages: [...(system === undefined ? [] : [{ role: 'system', content: system }]), USER],
    }),
    limits: ({ max, temperature }) => ({ max_completion_tokens: max, temperature }),
    modelOf: ({ model }) => model,
  },
  'text completions': {
    path: () => '/completions',
    body: () => ({ prompt: ASKED }),
    limits: ({ max, temperature }) => ({ max_tokens: max, temperature }),
    modelOf: ({ model }) => model,
  },
  Responses: {
    path: () => '/responses',
    body: (instructions) => ({ instructions, input: ASKED }),
    limits: ({ max, temperature }) => ({ max_output_tokens: max, temperature }),
    modelOf: ({ model }) => model,
  },
  Messages: {
    path: () => '/messages',
    body: (system) => ({ system, messages: [USER] }),
    limits: ({ max, temperature }) => ({ max_tokens: max, temperature }),
    modelOf: ({ model }) => model,
  },
  Gemini: {
    path: (model) => `/../v1beta/models/${model}:generateContent`,
    body: (system) => ({
      contents: [{ role: 'user', parts: [{ text: ASKED }] }],
      ...(system === undefined ? {} : { system_instruction: { parts: [{ text: system }] } }),
    }),
    limits: ({ max: maxOutputTokens, temperature }) => ({
      generationConfig: { maxOutputTokens, temperature },
    }),
    modelOf: ({ modelVersion }) => modelVersion,
  },
}

let upstream: ScriptedUpstream
let file: ConfigFile
let gateway: TestGateway
let prompts = 0

before(async () => {
  upstream = await startScriptedUpstream()
  const common = { kind: 'openai-compatible', base_url: upstream.baseUrl, retries: 0 } as const
  const model = {
    category: 'llm',
    vendor: 'acme',
    markup_multiplier: '2',
    context_tokens: 8_192,
    max_output_tokens: 256,
    prices: { input: '3', output: '4' },
  } as const
  file = await writeConfigFile({
    upstreams: [
      { ...common, id: 'one', provider_name: 'alpha' },
      { ...common, id: 'other', provider_name: 'beta' },
      { ...common, id: 'responses', speaks_responses: true },
      { ...common, id: 'messages', kind: 'anthropic', api_key_env: 'TEST_ANTHROPIC_KEY' },
    ],
    models: [
      {
        ...model,
        id: 'sailor',
        routes: [
          { upstream: 'one', model: 'x-alpha' },
          { upstream: 'other', model: 'x-beta' },
        ],
      },
      {
        ...model,
        id: 'speaks-responses',
        routes: [{ upstream: 'responses', model: 'x-responses' }],
      },
      { ...model, id: 'speaks-messages', routes: [{ upstream: 'messages', model: 'x-messages' }] },
    ],
  })
  gateway = await startGateway({ CATRACA_CONFIG: file.path, TEST_ANTHROPIC_KEY: 'key' })
})

after(async () => {
  await assertAudit(gateway.database)
  await gateway.stop()
  await upstream.close()
  await file.remove()
})

async function rest(method: string, path: string, body?: object): Promise<Asked> {
  const { secret } = gateway
  return ask(gateway.node.baseUrl, `/me/prompts${path}`, { method, secret, body })
}

async function save(fields: object = {}): Promise<{ id: string; slug: string }> {
  const body = { name: `Marinheiro ${++prompts}`, body: TEXT, default_model: 'sailor', ...fields }
  const answer = await rest('POST', '', body)
  assert.equal(answer.status, 201, answer.text)
  return answer.json
}

interface Call {
  readonly secret?: string
  readonly max?: number
  readonly temperature?: number
  readonly system?: string
  readonly more?: object
}

function call(format: Format, slug: string, options: Call = {}): Promise<Asked> {
  const { secret = gateway.secret, system, more } = options
  const model = `@preset/${slug}`
  const body = { model, ...format.body(system), ...format.limits(options), ...more }
  return ask(gateway.node.baseUrl, format.path(model), { secret, body })
}

/** The last request that one of the upstream's models got. */
function lastSent(...names: string[]): any {
  const calls = names.flatMap((name) => upstream.callsOf(name))
  const last = calls.toSorted((one, other) => one.atMs - other.atMs).at(-1)
  return last && { model: last.model, ...last.body }
}

for (const [name, format] of Object.entries(FORMATS)) {
  test(`${name}: a preset sets model, text, limits and routes, and answers as its model`, async () => {
    const parameters = {
      max_tokens: 50,
      temperature: 0.5,
      top_p: 0.9,
      provider: { only: ['beta'] },
    }
    const { slug } = await save({ parameters })
    const answer = await call(format, slug)
    assert.equal(answer.status, 200, answer.text)
    assert.equal(format.modelOf(answer.json), 'sailor')
    assert.ok(!answer.text.includes(slug))
    const sent = lastSent('x-alpha', 'x-beta')
    assert.equal(sent.model, 'x-beta')
    assert.deepEqual([sent.temperature, sent.top_p], [0.5, 0.9])
    assert.equal(sent.max_tokens ?? sent.max_completion_tokens, 50)
    const said = JSON.stringify(sent.messages)
    assert.ok(said.includes(TEXT) && said.indexOf(TEXT) < said.indexOf(ASKED), said)
    for (const field of ['provider', 'models']) assert.ok(!(field in sent), field)
  })

  test(`${name}: the caller's own fields win, but the limit of the output is the most`, async () => {
    const parameters = { max_tokens: 50, temperature: 0.5, provider: { only: ['beta'] } }
    const { slug } = await save({ parameters })
    const system = name === 'text completions' ? {} : { system: 'Seja breve.' }
    for (const [max, limit] of [
      [200, 50],
      [20, 20],
    ] as const) {
      const more = { provider: { only: ['alpha'] } }
      const answer = await call(format, slug, { max, temperature: 0.1, more, ...system })
      assert.equal(answer.status, 200, answer.text)
      const sent = lastSent('x-alpha', 'x-beta')
      assert.equal(sent.max_tokens ?? sent.max_completion_tokens, limit)
      assert.deepEqual([sent.model, sent.temperature], ['x-alpha', 0.1])
      const said = JSON.stringify(sent.messages)
      assert.ok(said.includes(TEXT))
      if (system.system !== undefined) assert.ok(said.indexOf(TEXT) < said.indexOf(system.system))
    }
  })

  for (const field of ['max_tokens', 'max_completion_tokens', 'max_output_tokens'])
    test(`${name}: no spelling of the limit is beyond the preset's: ${field}`, async () => {
      const { slug } = await save({ parameters: { max_tokens: 50 } })
      const answer = await call(format, slug, { more: { [field]: 9_000 } })
      if (answer.status === 400) return
      assert.equal(answer.status, 200, answer.text)
      const sent = lastSent('x-alpha', 'x-beta')
      assert.ok((sent.max_tokens ?? sent.max_completion_tokens) <= 50, JSON.stringify(sent))
    })

  test(`${name}: a preset of another customer, a deleted one and an unknown model are refused alike`, async () => {
    const { id, slug } = await save()
    const stranger = await seedCustomer(gateway.database.db, { balanceBrl: '10' })
    const refusalOf = async (asked: Promise<Asked>, slugOfIt: string): Promise<unknown> => {
      const { status, text } = await asked
      assert.equal(status, 404, text)
      return text.replaceAll(slugOfIt, '').replace(/"request_id":"[^"]*"/, '')
    }
    const unknown = await refusalOf(
      call(format, 'nenhum-tal-prompt', { max: 9 }),
      'nenhum-tal-prompt',
    )
    const called = upstream.callsOf('x-alpha').length
    const foreign = await refusalOf(call(format, slug, { secret: stranger.secret, max: 9 }), slug)
    assert.equal((await call(format, slug, { max: 9 })).status, 200)
    assert.equal((await rest('DELETE', `/${id}`)).status, 200)
    assert.deepEqual(await refusalOf(call(format, slug, { max: 9 }), slug), foreign)
    assert.equal(
      upstream.callsOf('x-alpha').length + upstream.callsOf('x-beta').length > called,
      true,
    )
    assert.equal(String(foreign).slice(0, 40), String(unknown).slice(0, 40))
  })
}

test('a change counts for the next call, and what the answer is charged as is the model', async () => {
  const { id, slug } = await save()
  const format = FORMATS['chat completions'] as Format
  for (const body of ['Fale como pirata.', 'Fale como almirante.']) {
    assert.equal((await rest('PATCH', `/${id}`, { body })).status, 200)
    assert.equal((await call(format, slug)).status, 200)
    assert.equal(lastSent('x-alpha', 'x-beta').messages[0].content, body)
  }
  const rows = await gateway.database.db
    .selectFrom('usage_events')
    .select('model_id')
    .distinct()
    .execute()
  assert.ok(
    rows.every(({ model_id }) => !model_id.includes('preset')),
    JSON.stringify(rows),
  )
})

test('an upstream of the client’s own format gets the preset in that format', async () => {
  const ofResponses = await save({
    default_model: 'speaks-responses',
    parameters: { max_tokens: 50 },
  })
  await call(FORMATS.Responses as Format, ofResponses.slug, { system: 'Seja breve.' })
  const response = lastSent('x-responses')
  assert.equal(response.instructions, `${TEXT}\n\nSeja breve.`)
  assert.equal(response.max_output_tokens, 50)
  const ofMessages = await save({
    default_model: 'speaks-messages',
    parameters: { max_tokens: 50 },
  })
  const system = [{ type: 'text', text: 'Seja breve.', cache_control: { type: 'ephemeral' } }]
  await call(FORMATS.Messages as Format, ofMessages.slug, { more: { system } })
  const message = lastSent('x-messages')
  assert.deepEqual(message.system, [{ type: 'text', text: TEXT }, ...system])
  assert.equal(message.max_tokens, 50)
})

test('a key calls a preset only if it may call its model', async () => {
  const { slug } = await save()
  const { secret } = await createApiKey(gateway.database.db, {
    customerId: gateway.customerId,
    name: 'limitada',
    modelIds: ['speaks-messages'],
    requestsPerMinute: 100,
  })
  const answer = await call(FORMATS['chat completions'] as Format, slug, { secret })
  assert.equal(answer.status, 403, answer.text)
  assert.equal(answer.json.error.code, 'key_model_access_denied')
})

test('a prompt without a model, or with variables, is no model', async () => {
  const format = FORMATS['chat completions'] as Format
  for (const fields of [{ default_model: null }, { body: 'Fale de {{tema}}.' }]) {
    const { slug } = await save(fields)
    const answer = await call(format, slug)
    assert.deepEqual([answer.status, answer.json.error.code], [400, 'invalid_request'])
  }
})

test('a preset that names a preset, or parameters that no call has, are not saved', async () => {
  const { slug } = await save()
  for (const fields of [
    { default_model: `@preset/${slug}` },
    { parameters: { max_tokens: 0 } },
    { parameters: { temperature: 3 } },
    { parameters: { stream: true } },
    { parameters: { provider: { only: 'alpha' } } },
    { parameters: { provider: { zdr: true } } },
    { parameters: { provider: { note: 'x'.repeat(5_000) } } },
    { parameters: { provider: { only: ['a\u0000'] } } },
    { parameters: { provider: { only: ['\ud83d'] } } },
  ]) {
    const body = { name: 'Recusado', body: TEXT, ...fields }
    const answer = await rest('POST', '', body)
    assert.equal(answer.status, 400, `${JSON.stringify(fields)}: ${answer.text}`)
  }
})

test('a preset takes :floor and :nitro, stands first in models, and is found where a slash is escaped', async () => {
  const { slug } = await save()
  const { secret, node } = gateway
  const messages = [USER]
  for (const body of [
    { model: `@preset/${slug}:floor`, messages },
    { models: [`@preset/${slug}`, 'speaks-messages'], messages },
    JSON.stringify({ model: `@preset/${slug}`, messages }).replace('/', '\\/'),
  ]) {
    const answer = await ask(node.baseUrl, '/chat/completions', { secret, body })
    assert.equal(answer.status, 200, answer.text)
    assert.equal(lastSent('x-alpha', 'x-beta').messages[0].content, TEXT)
  }
})
