/** What is held for long prompts, as agents send them, and what a refusal for the balance says. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ask, type Asked } from '../harness/ask.ts'
import { assertAudit } from '../harness/assert-audit.ts'
import { writeConfigFile, type ConfigFile } from '../harness/config-file.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { theOutcome } from '../harness/media-calls.ts'
import {
  startScriptedUpstream,
  type Behaviour,
  type ScriptedUpstream,
} from '../harness/scripted-upstream.ts'
import { seedCustomer } from '../harness/test-database.ts'

/** 412 kB of words, a token each: four bytes a token. */
const PROMPT = 'abc '.repeat(103_000)
const TOKENS = 103_000
const CACHED = { type: 'text', text: PROMPT, cache_control: { type: 'ephemeral', ttl: '1h' } }

let upstream: ScriptedUpstream
let configFile: ConfigFile
let gateway: TestGateway
let counts: (path: string) => number | undefined = () => undefined

before(async () => {
  upstream = await startScriptedUpstream()
  const base_url = upstream.baseUrl
  const model = (id: string, more: object): unknown => ({
    id,
    category: 'llm',
    context_tokens: 1_000_000,
    max_output_tokens: 64_000,
    routes: [{ upstream: 'claude', model: 'claude-opus-4-5' }],
    ...more,
  })
  const prices = { input: '5', cached_input: '0.5', cache_write: '6.25', output: '25' }
  configFile = await writeConfigFile({
    upstreams: [
      { id: 'claude', kind: 'anthropic', base_url, api_key_env: 'HOLDS_KEY' },
      { id: 'other', kind: 'openai-compatible', base_url },
      { id: 'openai', kind: 'openai', base_url, api_key_env: 'HOLDS_KEY' },
    ],
    models: [
      model('claude', { prices: { ...prices, cache_write_1h: '10' } }),
      model('claude-and-other', {
        prices,
        routes: [
          { upstream: 'claude', model: 'claude-opus-4-5' },
          { upstream: 'other', model: 'claude-and-other', priority: 2 },
        ],
      }),
    ] as never,
  })
  gateway = await startGateway({ CATRACA_CONFIG: configFile.path, HOLDS_KEY: 'x' })
  upstream.play('claude-opus-4-5', answer)
  upstream.play('gpt-5-mini', answerOfChat)
})
after(async () => {
  await gateway?.stop()
  await upstream?.close()
  await configFile?.remove()
})

const usage = { input_tokens: TOKENS, output_tokens: 3, cache_creation_input_tokens: 0 }

const answer: Behaviour = ({ path }, response) => {
  const isCount = path.endsWith('/count_tokens')
  const tokens = isCount ? counts(path) : undefined
  response.writeHead(isCount && tokens === undefined ? 404 : 200, {
    'content-type': 'application/json',
  })
  response.end(
    JSON.stringify(
      isCount
        ? { input_tokens: tokens }
        : {
            type: 'message',
            role: 'assistant',
            model: 'claude-opus-4-5',
            content: [{ type: 'text', text: 'oi' }],
            stop_reason: 'end_turn',
            usage,
          },
    ),
  )
}

const answerOfChat: Behaviour = (_call, response) =>
  void response.writeHead(200, { 'content-type': 'application/json' }).end(
    JSON.stringify({
      choices: [{ index: 0, message: { role: 'assistant', content: 'oi' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: TOKENS, completion_tokens: 3 },
    }),
  )

const BODIES: Record<string, (content: unknown, model: string) => readonly [string, object]> = {
  messages: (content, model) => ['/messages', { model, messages: [{ role: 'user', content }] }],
  chat: (content, model) => ['/chat/completions', { model, messages: [{ role: 'user', content }] }],
  responses: (_content, model) => ['/responses', { model, input: PROMPT }],
}

function askWith(
  secret: string,
  format: string,
  content: unknown,
  model = 'claude',
): Promise<Asked> {
  const [path, fields] = (BODIES[format] as (typeof BODIES)[string])(content, model)
  const limit = { [format === 'responses' ? 'max_output_tokens' : 'max_tokens']: 1_000 }
  return ask(gateway.node.baseUrl, path, { secret, body: { ...fields, ...limit } })
}

async function customerWith(balanceBrl: string): Promise<string> {
  return (await seedCustomer(gateway.database.db, { balanceBrl })).secret
}

for (const format of Object.keys(BODIES))
  test(`where the balance does not cover the bytes of a prompt, its upstream counts them: ${format}`, async () => {
    counts = () => TOKENS
    const isCached = format !== 'responses'
    const secret = await customerWith('12')
    const answered = await askWith(secret, format, isCached ? [CACHED] : PROMPT)
    assert.equal(answered.status, 200, answered.text)
    const outcome = await theOutcome(gateway, answered.requestId)
    assert.ok(outcome.held_nano_brl >= outcome.cost_billed_nano_brl)
    assert.ok(outcome.held_nano_brl <= 12_000_000_000n)
    assert.equal(outcome.usage_kind, 'exact')
    const [counted] = upstream.callsOf('claude-opus-4-5').filter(({ path }) => /count/.test(path))
    assert.deepEqual(
      Object.keys(counted?.body).filter(
        (field) => !['model', 'messages', 'system'].includes(field),
      ),
      [],
      'only the fields of which a prompt is made are sent to be counted',
    )
  })

test('an upstream that does not count leaves the bytes as the bound, and one that cannot is not asked', async () => {
  const secret = await customerWith('12')
  for (const [model, tokens] of [
    ['claude', undefined],
    ['claude', 0],
    ['claude', 10 ** 12],
    ['claude-and-other', TOKENS],
  ] as const) {
    counts = () => tokens
    const before = upstream.callsOf('claude-opus-4-5').length
    const answered = await askWith(secret, 'messages', [CACHED], model)
    assert.equal(answered.status, 402, answered.text)
    if (model !== 'claude') assert.equal(upstream.callsOf('claude-opus-4-5').length, before)
  }
})

test('an account whose balance does not cover an eighth of the bytes asks no upstream', async () => {
  counts = () => TOKENS
  const before = upstream.callsOf('claude-opus-4-5').length
  const answered = await askWith(await customerWith('1'), 'messages', PROMPT)
  assert.equal(answered.status, 402)
  assert.equal(upstream.callsOf('claude-opus-4-5').length, before)
})

test('the price of a cache write is held for only where a cache may be written', async () => {
  const heldFor = async (content: unknown, model = 'claude'): Promise<bigint> => {
    const answered = await askWith(gateway.secret, 'messages', content, model)
    assert.equal(answered.status, 200, answered.text)
    return (await theOutcome(gateway, answered.requestId)).held_nano_brl
  }
  const words = 'abc '.repeat(25_000)
  const deep = {
    type: 'document',
    source: {
      type: 'content',
      content: [{ type: 'text', text: words, cache_control: { type: 'ephemeral' } }],
    },
  }
  const plain = await heldFor(words)
  const cached = await heldFor([
    { type: 'text', text: words, cache_control: { type: 'ephemeral' } },
  ])
  const ratio = Number((cached * 1_000n) / plain) / 1_000
  assert.ok(ratio > 1.18 && ratio < 1.26, `${ratio}`)
  assert.ok((await heldFor([deep])) > plain)
  // An upstream of another kind may cache by itself.
  assert.ok((await heldFor(words, 'claude-and-other')) > plain)
})

test('a long prompt of a model with a public tokenizer is counted by it', async () => {
  const [path, fields] = ['/chat/completions', { model: 'gpt-5-mini', max_tokens: 100 }] as const
  const body = { ...fields, messages: [{ role: 'user', content: PROMPT }] }
  const secret = await customerWith('0.30')
  const answered = await ask(gateway.node.baseUrl, path, { secret, body })
  assert.equal(answered.status, 200, answered.text)
  const outcome = await theOutcome(gateway, answered.requestId)
  assert.ok(outcome.held_nano_brl >= outcome.cost_billed_nano_brl)
})

test('a refusal for the balance says what is needed, what is free and what other calls hold', async () => {
  counts = () => undefined
  for (const format of Object.keys(BODIES)) {
    const { secret, customerId } = await seedCustomer(gateway.database.db, { balanceBrl: '5.5' })
    const refused = await askWith(secret, format, PROMPT)
    assert.equal(refused.status, 402)
    assert.match(
      refused.json.error.message,
      /precisa de R\$ \d+,\d+, há R\$ 5,50 livres, e outras requisições em andamento reservam R\$ 0,00\./,
    )
    assert.ok(customerId)
  }
})

test('after all of this the audit is clean', () => assertAudit(gateway.database))
