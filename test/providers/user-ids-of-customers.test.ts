// deep: an attack
/** All customers share the operator's account at a provider, which knows users and caches by the names that clients give them. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ask, type Asked } from '../harness/ask.ts'
import { writeConfigFile, type ConfigFile } from '../harness/config-file.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import {
  good,
  startScriptedUpstream,
  status,
  type ScriptedUpstream,
} from '../harness/scripted-upstream.ts'
import { seedCustomer } from '../harness/test-database.ts'

const EMAIL = 'cliente.final@exemplo.com.br'
const MODELS = {
  translated: 'openai-compatible',
  answers: 'openai',
  messages: 'anthropic',
} as const

let upstream: ScriptedUpstream
let file: ConfigFile
let gateway: TestGateway
let other: string

before(async () => {
  upstream = await startScriptedUpstream()
  const upstreams = Object.values(MODELS).map((kind) => ({
    id: kind,
    kind,
    base_url: upstream.baseUrl,
    retries: 0,
    breaker: { failures: 0 },
    ...(kind === 'openai' ? { speaks_responses: true } : {}),
    ...(kind === 'openai-compatible' ? {} : { api_key_env: 'UPSTREAM_KEY' }),
  }))
  const llms = Object.entries(MODELS).map(([id, kind]) => ({
    id,
    category: 'llm' as const,
    prices: { input: '1', output: '1' },
    context_tokens: 8_000,
    max_output_tokens: 100,
    routes: [{ upstream: kind, model: id }],
  }))
  const image = {
    id: 'image',
    category: 'image' as const,
    context_tokens: 8_192,
    prices: { input: '5', output_image: '40.5' },
    image: { sizes: ['1024x1024'], tokens_max: { low: 272, medium: 1_056, high: 4_160 } },
    routes: [{ upstream: 'openai-compatible', model: 'image' }],
  }
  file = await writeConfigFile({ upstreams, models: [...llms, image] })
  gateway = await startGateway({ CATRACA_CONFIG: file.path, UPSTREAM_KEY: 'key' })
  other = (await seedCustomer(gateway.database.db, { balanceBrl: '100' })).secret
  for (const model of [...Object.keys(MODELS), 'image']) upstream.play(model, status(400))
})
after(async () => {
  await gateway.stop()
  await upstream.close()
  await file.remove()
})

const NAMED = { user: EMAIL, safety_identifier: EMAIL, prompt_cache_key: EMAIL }
const MESSAGES = [{ role: 'user', content: 'Oi' }]
const CALLS: Readonly<Record<string, readonly [string, string, object]>> = {
  'a chat': ['translated', '/chat/completions', { messages: MESSAGES, ...NAMED }],
  'responses, natively': ['answers', '/responses', { input: 'Oi', ...NAMED }],
  'responses, translated': ['translated', '/responses', { input: 'Oi', ...NAMED }],
  'messages, natively': [
    'messages',
    '/messages',
    { messages: MESSAGES, max_tokens: 10, metadata: { user_id: EMAIL } },
  ],
  'an image': ['image', '/images/generations', { prompt: 'Oi', user: EMAIL }],
}

function call(secret: string, name: string): Promise<Asked> {
  const [model, path, body] = CALLS[name] as (typeof CALLS)[string]
  return ask(gateway.node.baseUrl, path, { secret, body: { model, ...body } })
}

/** The names that the upstream receives for a call of this customer. */
async function namedBy(secret: string, name: string): Promise<readonly unknown[]> {
  const [model] = CALLS[name] as (typeof CALLS)[string]
  const before = upstream.callsOf(model).length
  const { text } = await call(secret, name)
  const { body, text: sent } = upstream.callsOf(model)[before] ?? assert.fail(text)
  assert.ok(!sent.includes(EMAIL), `${name}: ${sent}`)
  const { user, safety_identifier, prompt_cache_key, metadata } = body
  return [user, safety_identifier, prompt_cache_key, metadata?.user_id].filter(
    (value) => value !== undefined,
  )
}

for (const name of Object.keys(CALLS))
  test(`${name}: the same user of two customers is two users for a provider, and of one customer one`, async () => {
    const own = await namedBy(gateway.secret, name)
    assert.ok(own.length > 0)
    for (const value of own) assert.match(String(value), /^[\w-]{43}$/)
    assert.deepEqual(await namedBy(gateway.secret, name), own)
    const others = await namedBy(other, name)
    assert.equal(others.length, own.length)
    assert.ok(!others.some((value) => own.includes(value)))
  })

test('the client gets its own identifiers back', async () => {
  upstream.play('translated', good)
  const { json } = await call(gateway.secret, 'responses, translated')
  assert.equal(json.safety_identifier, EMAIL)
  assert.equal(json.prompt_cache_key, EMAIL)
})
