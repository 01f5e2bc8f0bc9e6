// deep: an attack
/** A report below what was delivered is no report: whatever the kind, the format and the place of the output. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ask, type Asked } from '../harness/ask.ts'
import { assertAudit } from '../harness/assert-audit.ts'
import { writeConfigFile, type ConfigFile } from '../harness/config-file.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { askForm, theOutcome, wav } from '../harness/media-calls.ts'
import {
  startScriptedUpstream,
  type Behaviour,
  type ScriptedUpstream,
} from '../harness/scripted-upstream.ts'

const WORDS = 'palavra '.repeat(150)

let upstream: ScriptedUpstream
let configFile: ConfigFile
let gateway: TestGateway

before(async () => {
  upstream = await startScriptedUpstream()
  const model = (id: string, category: string, more: object): unknown => ({
    id,
    category,
    context_tokens: 50_000,
    prices: { input: '1', output: '2' },
    routes: [{ upstream: ['responses', 'messages'].includes(id) ? id : 'chat', model: id }],
    ...more,
  })
  const base_url = upstream.baseUrl
  const often = { retries: 0, breaker: { failures: 0 } }
  configFile = await writeConfigFile({
    upstreams: [
      { id: 'chat', kind: 'openai-compatible', base_url, ...often },
      { id: 'responses', kind: 'openai-compatible', base_url, speaks_responses: true, ...often },
      { id: 'messages', kind: 'anthropic', base_url, api_key_env: 'BELOW_KEY', ...often },
    ],
    models: [
      ...['chat', 'responses', 'messages'].map((id) => model(id, 'llm', { can_reason: true })),
      model('vectors', 'embedding', { embedding: { dimensions: 2 } }),
      model('pictures', 'image', { image: { tokens_max: { low: 1_000 } } }),
      model('pictures-apart', 'image', {
        prices: { input: '1', output: '2', output_image: '3' },
        image: { tokens_max: { low: 1_000 } },
      }),
      model('speech', 'audio', { prices: { audio_hour: '1' }, audio: { seconds_max: 100 } }),
      model('speech-by-token', 'audio', {
        prices: { input_audio: '1', output: '2' },
        audio: { seconds_max: 100, tokens_per_second_max: 20 },
        max_output_tokens: 2_000,
      }),
    ] as never,
  })
  gateway = await startGateway({ CATRACA_CONFIG: configFile.path, BELOW_KEY: 'x' })
})
after(async () => {
  await gateway?.stop()
  await upstream?.close()
  await configFile?.remove()
})

const json =
  (body: unknown): Behaviour =>
  (_call, response) =>
    void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))

/** Ends, or breaks off, after these events. */
const events =
  (all: readonly unknown[], breaksOff: boolean): Behaviour =>
  (_call, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const event of all) response.write(`data: ${JSON.stringify(event)}\n\n`)
    if (breaksOff) setTimeout(() => response.destroy(), 20)
    else response.end('data: [DONE]\n\n')
  }

const PATHS: Record<string, readonly [string, object]> = {
  chat: ['/chat/completions', { messages: [{ role: 'user', content: 'oi' }] }],
  responses: ['/responses', { input: 'oi' }],
  messages: ['/messages', { max_tokens: 1_000, messages: [{ role: 'user', content: 'oi' }] }],
  vectors: ['/embeddings', { input: ['oi', 'você'] }],
  pictures: ['/images/generations', { prompt: 'oi' }],
  'pictures-apart': ['/images/generations', { prompt: 'oi' }],
}

function askModel(model: string, stream: boolean): Promise<Asked> {
  const { secret, node } = gateway
  if (model.startsWith('speech'))
    return askForm(node.baseUrl, secret, [
      ['model', model],
      ['file', wav(10), 'a.wav'],
    ])
  const [path, fields] = PATHS[model] as readonly [string, object]
  const body = { model, ...fields, ...(stream ? { stream } : {}) }
  return ask(node.baseUrl, path, { secret, body })
}

async function outcomeOf(model: string, stream: boolean, behaviour: Behaviour) {
  upstream.play(model, behaviour)
  const answer = await askModel(model, stream)
  assert.equal(answer.status, 200, answer.text)
  const outcome = await theOutcome(gateway, answer.requestId)
  assert.ok(outcome.cost_billed_nano_brl <= outcome.held_nano_brl)
  return outcome
}

const delta = (one: object, usage?: object) => ({ choices: [{ index: 0, delta: one }], usage })
const finish = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }
const chatUsage = (completion: number) => ({ prompt_tokens: 9, completion_tokens: completion })
const plainChat = (message: object, usage: object) =>
  json({ choices: [{ index: 0, message, finish_reason: 'stop' }], usage })
const picture = { b64_json: Buffer.from('\u0089PNG\r\n\u001a\n', 'latin1').toString('base64') }
const call = { index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }
const start = (usage: object) => ({
  type: 'message_start',
  message: { id: 'm', type: 'message', role: 'assistant', content: [], usage },
})
const block = (content_block: object) => ({ type: 'content_block_start', index: 0, content_block })
const text = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: WORDS } }
const stop = { type: 'message_delta', delta: { stop_reason: 'end_turn' } }
const item = { type: 'message', content: [{ type: 'output_text', text: WORDS }] }
const sealed = { type: 'reasoning', summary: [], encrypted_content: 'A'.repeat(4_000) }

/** Each delivers output, and reports nothing, or less than it delivered. */
const COMPLETE: readonly (readonly [string, string, boolean, Behaviour])[] = [
  ['a chat of zeros', 'chat', false, plainChat({ content: 'oi' }, chatUsage(0))],
  ['a chat of one token', 'chat', false, plainChat({ content: WORDS }, chatUsage(1))],
  ['calls of tools alone', 'chat', false, plainChat({ tool_calls: [call] }, chatUsage(0))],
  ['a refusal', 'chat', false, plainChat({ content: null, refusal: 'Não.' }, chatUsage(0))],
  [
    'reasoning in its details alone',
    'chat',
    false,
    plainChat({ content: '', reasoning_details: [{ text: WORDS }] }, chatUsage(0)),
  ],
  [
    'usage before the words',
    'chat',
    true,
    events([delta({ content: 'oi' }, chatUsage(1)), delta({ content: WORDS }), finish], false),
  ],
  [
    'usage before the last word',
    'chat',
    true,
    events(
      [
        delta({ content: WORDS }),
        { choices: [], usage: chatUsage(50) },
        delta({ content: 'fim' }),
        finish,
      ],
      false,
    ),
  ],
  [
    'the one token of message_start',
    'messages',
    true,
    events(
      [
        start({ input_tokens: 9, output_tokens: 1 }),
        block({ type: 'text', text: '' }),
        text,
        stop,
        { type: 'message_stop' },
      ],
      false,
    ),
  ],
  [
    'a message of zeros with hidden thinking',
    'messages',
    false,
    json({
      type: 'message',
      content: [{ type: 'redacted_thinking', data: 'A'.repeat(400) }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 9, output_tokens: 0 },
    }),
  ],
  [
    'a response of zeros with hidden reasoning',
    'responses',
    false,
    json({ status: 'completed', output: [sealed], usage: { input_tokens: 9, output_tokens: 0 } }),
  ],
  [
    'vectors of zero tokens',
    'vectors',
    false,
    json({
      data: [0, 1].map((index) => ({ index, embedding: [1, 0] })),
      usage: { prompt_tokens: 1 },
    }),
  ],
  ...[
    { input_tokens: 0, output_tokens: 0 },
    { input_tokens: 9, output_tokens: 0 },
  ].map(
    (usage) => ['a picture of zeros', 'pictures', false, json({ data: [picture], usage })] as const,
  ),
  [
    'a picture whose tokens are all text',
    'pictures-apart',
    false,
    json({
      data: [picture],
      usage: { input_tokens: 9, output_tokens: 900, output_tokens_details: { image_tokens: 0 } },
    }),
  ],
  ...[{ duration: 0 }, { duration: '0' }, { usage: { seconds: 0 } }].map(
    (more) => ['a sound of no length', 'speech', false, json({ text: WORDS, ...more })] as const,
  ),
  ...[
    [0, 9],
    [100, 0],
    [100, 1],
  ].map(
    ([input_tokens, output_tokens]) =>
      [
        'a sound of few tokens',
        'speech-by-token',
        false,
        json({ text: WORDS, usage: { input_tokens, output_tokens } }),
      ] as const,
  ),
]

for (const [name, model, stream, behaviour] of COMPLETE)
  test(`${name}: a report below what was delivered is no report`, async () => {
    const outcome = await outcomeOf(model, stream, behaviour)
    assert.deepEqual(
      [outcome.outcome, outcome.usage_kind, outcome.reason],
      ['charged', 'estimated', 'no_usage_reported'],
    )
    assert.ok(outcome.cost_billed_nano_brl > 0n)
  })

const whole = (type: string, more: object) => ({
  type: `response.${type}`,
  output_index: 0,
  ...more,
})
const opened = whole('output_item.added', { item: { type: 'message', content: [] } })

const BROKEN: readonly (readonly [string, string, readonly unknown[], number])[] = [
  ['reasoning in its details', 'chat', [delta({ reasoning_details: [{ text: WORDS }] })], 300],
  ['a refusal', 'chat', [delta({ refusal: WORDS })], 300],
  [
    'a text that is done without deltas',
    'responses',
    [opened, whole('output_text.done', { text: WORDS })],
    300,
  ],
  [
    'a refusal that is done without deltas',
    'responses',
    [whole('refusal.done', { refusal: WORDS })],
    300,
  ],
  [
    'arguments that are done without deltas',
    'responses',
    [whole('function_call_arguments.done', { arguments: WORDS })],
    300,
  ],
  [
    'a part that is done without deltas',
    'responses',
    [whole('content_part.done', { part: { text: WORDS } })],
    300,
  ],
  [
    'an item that is whole when it is added',
    'responses',
    [whole('output_item.added', { item })],
    300,
  ],
  ['encrypted reasoning', 'responses', [whole('output_item.done', { item: sealed })], 750],
  [
    'a block that is whole when it starts',
    'messages',
    [start({ input_tokens: 9 }), block({ type: 'text', text: WORDS })],
    300,
  ],
  [
    'redacted thinking',
    'messages',
    [start({ input_tokens: 9 }), block({ type: 'redacted_thinking', data: 'A'.repeat(4_000) })],
    750,
  ],
]

for (const [name, model, all, tokens] of BROKEN)
  test(`${name}: what was delivered before the stream broke off is charged`, async () => {
    const outcome = await outcomeOf(model, true, events(all, true))
    assert.deepEqual([outcome.outcome, outcome.reason], ['charged', 'stream_broken'])
    assert.equal(outcome.completion_tokens, tokens)
  })

test('a text is counted once, whether its deltas, its parts or its item show it', async () => {
  const parts = [
    opened,
    whole('output_text.delta', { content_index: 0, delta: WORDS }),
    whole('output_text.done', { content_index: 0, text: WORDS }),
    whole('content_part.done', { content_index: 0, part: { text: WORDS } }),
    whole('output_item.done', { item }),
  ]
  const outcome = await outcomeOf('responses', true, events(parts, true))
  assert.equal(outcome.completion_tokens, 300)
})

test('a failure that reports its usage is charged by it', async () => {
  const usage = { input_tokens: 21, output_tokens: 17 }
  const failed = { status: 'failed', error: { code: 'server_error' }, usage }
  const said = whole('output_text.delta', { delta: WORDS })
  for (const [model, all] of [
    ['responses', [said, { type: 'response.failed', response: failed }]],
    [
      'chat',
      [
        delta({ content: WORDS }),
        { error: { code: 500 }, usage: { prompt_tokens: 21, completion_tokens: 17 } },
      ],
    ],
  ] as const) {
    const outcome = await outcomeOf(model, true, events(all, false))
    assert.deepEqual(
      [outcome.usage_kind, outcome.prompt_tokens, outcome.completion_tokens],
      ['exact', 21, 17],
    )
  }
})

test('a failure that reports usage and delivered nothing costs nothing', async () => {
  const failed = { error: { code: 'server_error' }, usage: { input_tokens: 21, output_tokens: 17 } }
  upstream.play('responses', events([opened, { type: 'response.failed', response: failed }], false))
  const answer = await askModel('responses', true)
  const outcome = await theOutcome(gateway, answer.requestId)
  assert.equal(outcome.outcome, 'released')
})

test('an honest report far below the count of bytes is believed', async () => {
  // Long tokens: of spaces, as in tables, and of a language that the tokenizer knows well.
  const spaces = ' '.repeat(12_800)
  for (const [model, stream, behaviour] of [
    ['chat', false, plainChat({ content: spaces }, chatUsage(100))],
    [
      'chat',
      true,
      events([delta({ content: spaces }), finish, { choices: [], usage: chatUsage(100) }], false),
    ],
    // Usage in every chunk, as some upstreams send it.
    [
      'chat',
      true,
      events(
        [1, 2, 3]
          .map((count) => delta({ content: 'oi ' }, chatUsage(count)))
          .concat(finish as never),
        false,
      ),
    ],
    // A signature is no output.
    [
      'chat',
      false,
      plainChat({ content: 'oi', reasoning_details: [{ data: 'A'.repeat(8_000) }] }, chatUsage(3)),
    ],
  ] as const) {
    const outcome = await outcomeOf(model, stream, behaviour)
    assert.deepEqual([outcome.usage_kind, outcome.reason], ['exact', null])
  }
})

test('after all of this the audit is clean', () => assertAudit(gateway.database))
