// deep: every kind of call at its ceiling
/**
 * A charge is at most its hold, at upstreams that bill as much as a request permits: every byte of the body as a
 * token, and every output token that the limit allows.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { writeConfigFile, type ConfigFile } from '../harness/config-file.ts'
import { ask, askChat, sound, type Asked } from '../harness/ask.ts'
import { assertRefusal } from '../harness/assert-answer.ts'
import { assertAudit } from '../harness/assert-audit.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { resolutionsOf, type UsageEvent } from './resolutions-of.ts'
import {
  startScriptedUpstream,
  type Behaviour,
  type ScriptedUpstream,
} from '../harness/scripted-upstream.ts'

const JSON_TYPE = { 'content-type': 'application/json' }
/** The output of an upstream without a limit. */
const UNLIMITED = 65_536
const PRICES = { input: '1', output: '10' }

let upstream: ScriptedUpstream
let config: ConfigFile
let gateway: TestGateway

before(async () => {
  upstream = await startScriptedUpstream()
  const model = (id: string, to: string, more: object = {}): object => ({
    id,
    category: 'llm',
    prices: PRICES,
    markup_multiplier: 1,
    routes: [{ upstream: to, model: id }],
    context_tokens: 1_000_000,
    max_output_tokens: 100,
    ...more,
  })
  config = await writeConfigFile({
    upstreams: [
      {
        id: 'plain',
        kind: 'openai-compatible',
        base_url: upstream.baseUrl,
        opens_addresses: true,
      },
      { id: 'own', kind: 'openai-compatible', base_url: upstream.baseUrl },
      {
        id: 'newer',
        kind: 'openai-compatible',
        base_url: upstream.baseUrl,
        max_tokens_field: 'max_completion_tokens',
      },
      {
        id: 'only-images',
        kind: 'openai-compatible',
        base_url: upstream.baseUrl,
        opens_addresses: true,
        opens_only_images: true,
      },
      { id: 'gemini', kind: 'google', base_url: upstream.baseUrl, api_key_env: 'NODE_ENV_KEY' },
      { id: 'claude', kind: 'anthropic', base_url: upstream.baseUrl, api_key_env: 'NODE_ENV_KEY' },
    ],
    models: [
      model('only-max-tokens', 'plain'),
      model('only-max-completion-tokens', 'newer'),
      model('com-imagens', 'plain', { image_tokens_max: 1_000 }),
      model('servidor-proprio', 'own', { image_tokens_max: 1_000 }),
      model('que-abre-tudo', 'plain', { image_tokens_max: 1_000 }),
      model('que-abre-imagens', 'only-images', { image_tokens_max: 1_000 }),
      model('gemini-que-ouve', 'gemini', { prices: { ...PRICES, input_audio: '7' } }),
      model('gemini-surdo', 'gemini'),
      model('vetores', 'plain', {
        category: 'embedding',
        prices: { input: '1' },
        embedding: { dimensions: 2, can_shorten: true },
      }),
      model('claude-de-hora', 'claude', {
        prices: { ...PRICES, cached_input: '0.1', cache_write: '1.25', cache_write_1h: '2' },
      }),
      model('claude-sem-hora', 'claude', { prices: { ...PRICES, cache_write: '1.25' } }),
    ] as never,
  })
  gateway = await startGateway({ CATRACA_CONFIG: config.path, NODE_ENV_KEY: 'key' })
  upstream.play('only-max-tokens', billingAll('max_tokens'))
  upstream.play('only-max-completion-tokens', billingAll('max_completion_tokens'))
  upstream.play('com-imagens', billingAll('max_tokens'))
  upstream.play('claude-de-hora', claude)
  upstream.play('claude-sem-hora', claude)
})

after(async () => {
  await upstream.close()
  await config.remove()
  await gateway.stop()
})

/** An upstream that obeys this limit and ignores every other field. */
function billingAll(limitField: string): Behaviour {
  return ({ text, body }, response) => {
    const images = [...text.matchAll(/"data:image[^"]*"/g)]
    const bytes = images.reduce((sum, [url]) => sum - url.length + 2, Buffer.byteLength(text))
    const prompt_tokens = bytes + images.length * 1_000
    const completion_tokens = (body[limitField] ?? UNLIMITED) * (body.n ?? 1)
    const choices = [
      { index: 0, message: { role: 'assistant', content: 'Oi.' }, finish_reason: 'stop' },
    ]
    const usage = {
      prompt_tokens,
      completion_tokens,
      total_tokens: prompt_tokens + completion_tokens,
    }
    response.writeHead(200, JSON_TYPE).end(JSON.stringify({ choices, usage }))
  }
}

const claude: Behaviour = ({ text, body }, response) => {
  const writes = Buffer.byteLength(text)
  const hour = /"ttl":"1h"/.test(text) ? writes : 0
  const answer = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude',
    content: [{ type: 'text', text: 'Oi.' }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: {
      input_tokens: 0,
      output_tokens: body.max_tokens,
      cache_creation_input_tokens: writes,
      cache_read_input_tokens: 0,
      cache_creation: { ephemeral_5m_input_tokens: writes - hour, ephemeral_1h_input_tokens: hour },
    },
  }
  response.writeHead(200, JSON_TYPE).end(JSON.stringify(answer))
}

const chat = (body: unknown): Promise<Asked> => askChat(gateway.node.baseUrl, gateway.secret, body)

async function assertWithinHold(answer: Asked, name: string): Promise<UsageEvent> {
  assert.equal(answer.status, 200, `${name}: ${answer.text}`)
  const [event] = await resolutionsOf(gateway.database, answer.requestId)
  assert.ok(event)
  assert.ok(
    event.cost_billed_nano_brl <= event.held_nano_brl,
    `${name}: ${event.held_nano_brl} held, ${event.cost_billed_nano_brl} charged`,
  )
  return event
}

const LONG = 'texto que ninguém contou. '.repeat(200)
const NUMBERS = `[${'1e20,'.repeat(2_000)}1e20]`

/** Requests that once were charged more than was held. */
const CHATS: Record<string, (model: string) => unknown> = {
  'the refusal of an earlier message': (model) =>
    sound(model, {
      messages: [
        { role: 'assistant', content: null, refusal: LONG },
        { role: 'assistant', content: [{ type: 'refusal', refusal: LONG }] },
        { role: 'user', content: 'E agora?' },
      ],
    }),
  'numbers that are longer when they are written again': (model) =>
    `{"model":"${model}","tools":[{"type":"function","function":{"name":"f","parameters":{"enum":${NUMBERS}}}}],"messages":[{"role":"user","content":"Oi"}]}`,
  'numbers in a schema of the answer': (model) =>
    `{"model":"${model}","response_format":{"type":"json_schema","json_schema":{"name":"f","schema":{"enum":${NUMBERS}}}},"messages":[{"role":"user","content":"Oi"}]}`,
  'no limit of output': (model) => sound(model),
  'the newer limit alone': (model) => sound(model, { max_completion_tokens: 1 }),
  'the older limit alone': (model) => sound(model, { max_tokens: 1 }),
  'both limits, and others': (model) =>
    sound(model, {
      max_tokens: 1,
      max_completion_tokens: 2,
      max_output_tokens: 9_999,
      max_new_tokens: 9_999,
    }),
  'several choices': (model) => sound(model, { n: 4, max_tokens: 7 }),
  'a key that is there twice': (model) =>
    `{"model":"${model}","messages":[{"role":"user","content":"${LONG}"}],"max_tokens":5,"max_tokens":90,"messages":[{"role":"user","content":"Oi","content":"${LONG}"}]}`,
  'names, calls of tools and their results': (model) =>
    sound(model, {
      messages: [
        { role: 'user', name: LONG, content: 'Oi' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: LONG } }],
        },
        { role: 'tool', tool_call_id: 'c', content: LONG },
      ],
    }),
}

for (const model of ['only-max-tokens', 'only-max-completion-tokens']) {
  for (const [name, bodyFor] of Object.entries(CHATS)) {
    test(`a charge is at most its hold: ${name}, at an upstream of ${model}`, async () => {
      await assertWithinHold(await chat(bodyFor(model)), name)
    })
  }
}

test('the limit that the hold covers is the limit that is sent, in one field', async () => {
  for (const [fields, limit] of [
    [{}, 100],
    [{ max_tokens: 7 }, 7],
    [{ max_completion_tokens: 8 }, 8],
    [{ max_tokens: 7, max_completion_tokens: 9 }, 9],
  ] as const) {
    for (const stream of [false, true]) {
      for (const [model, field, other] of [
        ['only-max-tokens', 'max_tokens', 'max_completion_tokens'],
        ['only-max-completion-tokens', 'max_completion_tokens', 'max_tokens'],
      ] as const) {
        await chat(sound(model, { ...fields, stream }))
        const sent = upstream.callsOf(model).at(-1)?.body
        assert.deepEqual([sent[field], sent[other]], [limit, undefined], JSON.stringify(fields))
      }
    }
  }
})

test('a limit that a small balance lowers is the limit that is sent', async () => {
  const { seedCustomer } = await import('../harness/test-database.ts')
  const { secret } = await seedCustomer(gateway.database.db, { balanceBrl: '0.0058' })
  const answer = await askChat(gateway.node.baseUrl, secret, sound('only-max-tokens'))
  const event = await assertWithinHold(answer, 'a small balance')
  const sent = upstream.callsOf('only-max-tokens').at(-1)?.body.max_tokens
  assert.ok(sent >= 64 && sent < 100, String(sent))
  assert.equal(event.completion_tokens, sent)
})

test('fields without a price do not reach an upstream', async () => {
  const unknown = {
    provider: { order: ['x'] },
    prediction: { type: 'content', content: LONG },
    store: true,
    metadata: { a: LONG },
    service_tier: 'auto',
    modalities: ['text'],
    transforms: ['middle-out'],
    extra_body: { plugins: [] },
    best_of: 20,
    use_beam_search: true,
    cache_control: { type: 'ephemeral', ttl: '1h' },
    plugins: [],
    web_search_options: null,
  }
  const part = {
    type: 'text',
    text: 'Oi',
    cache_control: { type: 'ephemeral', ttl: '1h' },
    x: LONG,
  }
  const message = { role: 'user', content: [part], audio: { id: 'a' }, annotations: [LONG] }
  const tool = {
    type: 'function',
    function: { name: 'f' },
    cache_control: { type: 'ephemeral' },
    x: 1,
  }
  await assertWithinHold(
    await chat({
      model: 'only-max-tokens',
      messages: [message],
      tools: [tool],
      seed: 7,
      ...unknown,
    }),
    'unknown fields',
  )
  assert.deepEqual(upstream.callsOf('only-max-tokens').at(-1)?.body, {
    model: 'only-max-tokens',
    max_tokens: 100,
    messages: [{ role: 'user', content: 'Oi' }],
    tools: [{ type: 'function', function: { name: 'f' } }],
    seed: 7,
  })
})

test('the fields of an ordinary client arrive unchanged', async () => {
  const fields = {
    temperature: 0.5,
    top_p: 0.9,
    stop: ['fim'],
    seed: 7,
    n: 1,
    presence_penalty: 0.1,
    frequency_penalty: 0.2,
    logit_bias: { '50256': -1 },
    logprobs: true,
    top_logprobs: 2,
    user: 'pessoa',
    reasoning_effort: 'low',
    parallel_tool_calls: false,
    tool_choice: 'auto',
    tools: [
      { type: 'function', function: { name: 'f', strict: true, parameters: { type: 'object' } } },
    ],
    response_format: { type: 'json_object' },
  }
  await assertWithinHold(await chat(sound('only-max-tokens', fields)), 'ordinary fields')
  const {
    model: _model,
    max_tokens: _limit,
    user,
    ...sent
  } = upstream.callsOf('only-max-tokens').at(-1)?.body ?? {}
  // A digest: another customer's user of this name is another one.
  assert.match(user, /^[\w-]{43}$/)
  const { user: _user, ...others } = fields
  assert.deepEqual(sent, { messages: sound().messages, ...others })
})

test('fields that add content or choose another service tier are refused', async () => {
  for (const fields of [
    { plugins: [{ id: 'web' }] },
    { search_parameters: { mode: 'on' } },
    { data_sources: [{ type: 'azure_search' }] },
    { web_search_options: {} },
    { enable_search: true },
    { documents: ['x'] },
    { deferred: true },
    { chat_template: '{{ messages }}' },
    { modalities: ['image', 'text'] },
    { modalities: ['text', 'audio'] },
    { audio: { voice: 'x' } },
    { service_tier: 'flex' },
    { service_tier: 'priority' },
    { service_tier: 'fast' },
  ])
    assertRefusal(await chat(sound('only-max-tokens', fields)), 400, 'invalid_request')
})

const base64 = (text: string): string => Buffer.from(text, 'latin1').toString('base64')
const PNG = `data:image/png;base64,${base64('\x89PNG\r\n\x1a\n and the rest')}`
const shown = (url: string): object => ({
  messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }],
})

test('the hold treats an image as an image, however large its data', async () => {
  const large = PNG + 'A'.repeat(500_000)
  await assertWithinHold(await chat(sound('com-imagens', shown(large))), 'an image')
  await assertWithinHold(
    await chat(sound('com-imagens', shown('https://a.test/b.png'))),
    'an address',
  )
})

test('an image address that the upstream may open as something else is held for as the whole context', async () => {
  const film = shown('https://youtu.be/abcdefg')
  const held: bigint[] = []
  for (const [model, opened] of [
    ['que-abre-tudo', 999_000],
    ['que-abre-imagens', 1_000],
  ] as const) {
    upstream.play(model, billing(opened))
    held.push((await assertWithinHold(await chat(sound(model, film)), model)).held_nano_brl)
  }
  assert.ok((held[0] as bigint) > 100n * (held[1] as bigint))
  // Data has one type, wherever it is opened.
  upstream.play('que-abre-tudo', billing(1_000))
  const image = await assertWithinHold(await chat(sound('que-abre-tudo', shown(PNG))), 'data')
  assert.ok(image.held_nano_brl < (held[1] as bigint) * 2n)
})

function billing(prompt_tokens: number): Behaviour {
  return (_call, response) => {
    const choices = [
      { index: 0, message: { role: 'assistant', content: 'Oi.' }, finish_reason: 'stop' },
    ]
    const usage = { prompt_tokens, completion_tokens: 1, total_tokens: prompt_tokens + 1 }
    response.writeHead(200, JSON_TYPE).end(JSON.stringify({ choices, usage }))
  }
}

test('a part is sent only with the fields of its own type', async () => {
  const all = {
    text: 'Oi',
    refusal: 'Não.',
    image_url: { url: 'https://a.test/b.png', detail: 'low' },
    file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${base64('%PDF-1.7')}` },
    video_url: { url: 'https://a.test/b.mp4' },
  }
  const types = ['text', 'refusal', 'image_url', 'file'] as const
  const content = types.map((type) => ({ type, ...all }))
  const answer = await chat(sound('com-imagens', { messages: [{ role: 'user', content }] }))
  await assertWithinHold(answer, 'mixed parts')
  assert.deepEqual(
    upstream.callsOf('com-imagens').at(-1)?.body.messages[0].content,
    types.map((type) => ({ type, [type]: all[type] })),
  )
})

test('no upstream is asked to open an address of a private network', async () => {
  const hosts = [
    '169.254.169.254',
    '127.0.0.1:8080',
    '[::1]',
    '[::ffff:10.0.0.1]',
    '0x7f.1',
    '2130706433',
    'localhost',
    'metadata.google.internal',
    'postgres',
    'user:pass@example.com',
    'example.com:25',
  ]
  for (const model of ['com-imagens', 'servidor-proprio', 'gemini-surdo', 'claude-de-hora'])
    for (const host of hosts) {
      const answer = await chat(sound(model, shown(`http://${host}/latest/meta-data`)))
      assertRefusal(answer, 400, 'invalid_request')
    }
  // The check of the text accepts a name that resolves to such an address, so our own servers never get addresses.
  const named = await chat(sound('servidor-proprio', shown('http://a.test/latest/meta-data')))
  assert.equal(named.status, 400)
  assert.deepEqual(upstream.callsOf('servidor-proprio'), [])
  const ambiguous = 'http://a.test\\@169.254.169.254/x.png'
  await chat(sound('com-imagens', shown(ambiguous)))
  const [part] = upstream.callsOf('com-imagens').at(-1)?.body.messages[0].content ?? []
  assert.equal(part.image_url.url, 'http://a.test/@169.254.169.254/x.png')
})

test('an image_url of an unknown kind is refused', async () => {
  for (const url of [
    `data:application/pdf;base64,${base64('%PDF-1.7')}`,
    `data:video/mp4;base64,${base64('\0\0\0\x18ftypmp42')}`,
    `data:text/plain;base64,${base64('Olá')}`,
    `data:image/svg+xml;base64,${base64('<svg/>')}`,
    `data:image/png;base64,${base64('%PDF-1.7')}`,
    `data:image/png;base64,${base64('\0\0\0\x18ftypmp42')}`,
    'data:image/png,%89PNG',
    'data:image/png;base64',
    'data:;base64,iVBORw0KGgo=',
    'gs://bucket/film.mp4',
    'file:///etc/passwd',
    'iVBORw0KGgo=',
  ])
    assertRefusal(await chat(sound('com-imagens', shown(url))), 400, 'invalid_request')
})

test('a file without a price is refused, whatever type it claims', async () => {
  const attached = (file: unknown): object => ({
    messages: [{ role: 'user', content: [{ type: 'file', file }] }],
  })
  for (const file of [
    { file_data: `data:audio/mpeg;base64,${base64('ID3\x04')}` },
    { file_data: `data:video/mp4;base64,${base64('\0\0\0\x18ftypmp42')}` },
    { file_data: `data:application/pdf;base64,${base64('ID3\x04')}` },
    { file_data: `data:text/plain;base64,${base64('OggS')}` },
    { file_data: `data:application/octet-stream;base64,${base64('x')}` },
    { file_data: 'gs://bucket/film.mp4' },
    { file_url: 'file:///etc/passwd' },
    { file_id: 'file-abc' },
    null,
  ])
    assertRefusal(await chat(sound('com-imagens', attached(file))), 400, 'invalid_request')
})

test('holds for embeddings in any script follow from the bytes that are sent', async () => {
  upstream.play('vetores', ({ body }, response) => {
    const inputs: (string | number[])[] = typeof body.input === 'string' ? [body.input] : body.input
    const tokens = inputs.map((input) =>
      typeof input === 'string' ? Buffer.byteLength(input) + 2 : input.length,
    )
    const prompt_tokens = tokens.reduce((sum, count) => sum + count, 0)
    const data = inputs.map((_input, index) => ({ index, embedding: [0.5, 0.5] }))
    response.writeHead(200, JSON_TYPE).end(JSON.stringify({ data, usage: { prompt_tokens } }))
  })
  const embed = (input: unknown): Promise<Asked> =>
    ask(gateway.node.baseUrl, '/embeddings', {
      secret: gateway.secret,
      body: { model: 'vetores', input, dimensions: 2, plugins: [1], task: 'x' },
    })
  for (const input of ['नमस्ते दुनिया', ['नमस्ते', '日本語', ''.padEnd(5_000, 'á')], [[1, 2, 3], [4]]])
    await assertWithinHold(await embed(input), JSON.stringify(input).slice(0, 40))
  const sent = upstream.callsOf('vetores').at(-1)?.body
  assert.deepEqual(Object.keys(sent).sort(), ['dimensions', 'input', 'model'])
})

const cached = (ttl?: string): object => ({
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: LONG, cache_control: { type: 'ephemeral', ...(ttl ? { ttl } : {}) } },
      ],
    },
  ],
})

test('cache writes are billed by the lifetime that was sent, and the hold covers it', async () => {
  const billed: Record<string, bigint[]> = {}
  for (const [model, ttl] of [
    ['claude-de-hora', '1h'],
    ['claude-de-hora', '5m'],
    ['claude-sem-hora', '1h'],
  ] as const) {
    const event = await assertWithinHold(await chat(sound(model, cached(ttl))), `${model} ${ttl}`)
    const { cache_write_tokens: writes, completion_tokens: output } = event
    assert.ok(writes > 4_000)
    // Pico-USD: 1.25 or 2 USD per million, and 10 for the output.
    billed[`${model} ${ttl}`] = [
      event.cost_upstream_pico_usd - BigInt(output) * 10_000_000n,
      BigInt(writes),
    ]
  }
  const priceOf = (name: string): bigint => {
    const [cost, writes] = billed[name] as [bigint, bigint]
    return cost / writes
  }
  assert.equal(priceOf('claude-de-hora 1h'), 2_000_000n)
  assert.equal(priceOf('claude-de-hora 5m'), 1_250_000n)
  assert.equal(priceOf('claude-sem-hora 1h'), 1_250_000n)
  await assertAudit(gateway.database)
})

test('sound in a file is billed and held for as sound, and refused without a price', async () => {
  const promptTokenCount = 1_000_000
  for (const details of [
    [
      { modality: 'TEXT', tokenCount: 100 },
      { modality: 'AUDIO', tokenCount: promptTokenCount - 100 },
    ],
    // The upstream does not itemize it: all tokens count as sound.
    undefined,
  ]) {
    upstream.play('', (_call, response) => {
      const answer = {
        candidates: [
          { content: { parts: [{ text: 'Oi.' }], role: 'model' }, finishReason: 'STOP' },
        ],
        usageMetadata: {
          promptTokenCount,
          candidatesTokenCount: 3,
          totalTokenCount: promptTokenCount + 3,
          ...(details ? { promptTokensDetails: details } : {}),
        },
      }
      response.writeHead(200, JSON_TYPE).end(JSON.stringify(answer))
    })
    const file = { filename: 'a.mp3', file_data: `data:audio/mpeg;base64,${base64('ID3\x04')}` }
    const messages = [{ role: 'user', content: [{ type: 'file', file }] }]
    const event = await assertWithinHold(
      await chat(sound('gemini-que-ouve', { messages })),
      'sound',
    )
    const heard = details ? promptTokenCount - 100 : promptTokenCount
    assert.deepEqual(event.units, { input_audio_tokens: heard })
    assert.equal(event.prompt_tokens, promptTokenCount - heard)
    for (const model of ['gemini-surdo', 'com-imagens', 'claude-de-hora'])
      assertRefusal(await chat(sound(model, { messages })), 400, 'invalid_request')
  }
})
