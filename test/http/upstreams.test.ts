/** Operators add providers in the browser: their models answer without a restart, on all nodes, and their keys stay secret. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { withAdded } from '../../src/app/config/with-added-upstreams.ts'
import { loadConfig } from '../../src/app/config/config.ts'
import { readModelList } from '../../src/gateway/providers/read-model-list.ts'
import { openOrigin } from '../../src/gateway/providers/http1/open-origin.ts'
import { upstreamPresets } from '../../src/money/catalog/upstream-presets.ts'
import { lookupPublic } from '../../src/platform/lib/guarded-fetch.ts'
import { actsOn, startWithAdmins, type TestAdmins } from '../harness/admins.ts'
import { askChat, sound, type Asked } from '../harness/ask.ts'
import { assertAudit } from '../harness/assert-audit.ts'
import { startLocalNode, type LocalNode } from '../harness/local-node.ts'

const KEY = 'sk-catraca-first-key-0123456789-wxyz'
const NEXT_KEY = 'sk-catraca-second-key-987654321-abcd'
const MODEL = 'gpt-5.4'
const USAGE = { prompt_tokens: 1_000, completion_tokens: 500, total_tokens: 1_500 }

/** What the provider does with the next requests, and the keys that it saw. */
let onList: ((response: ServerResponse) => void) | undefined
let isHeld = false
const waiting: (() => void)[] = []
const keysSeen: string[] = []

const provider = createServer((request, response) => {
  keysSeen.push(String(request.headers.authorization))
  const answer = (body: unknown) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  if (request.method === 'GET') {
    if (onList) return onList(response)
    return void answer({ object: 'list', data: [{ id: MODEL }, { id: 'gpt-99-turbo' }] })
  }
  let text = ''
  request.on('data', (chunk: Buffer) => (text += chunk.toString()))
  request.on('end', () => {
    const { model } = JSON.parse(text)
    const message = { role: 'assistant', content: 'Olá.' }
    const choices = [{ index: 0, message, finish_reason: 'stop' }]
    const send = () =>
      answer({ id: 'c1', object: 'chat.completion', created: 1, model, choices, usage: USAGE })
    if (isHeld) waiting.push(() => void send())
    else send()
  })
})

const preset = upstreamPresets.openai as { baseUrl: string }
const published = preset.baseUrl
let own: string
let admins: TestAdmins
let other: LocalNode

before(async () => {
  provider.listen(0, '127.0.0.1')
  await once(provider, 'listening')
  own = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`
  // The preset has an address of its own, and no route takes another one for it.
  preset.baseUrl = own
  const env = { WEBHOOKS_ALLOW_PRIVATE: 'true' }
  admins = await startWithAdmins(env)
  const { node, database } = admins.gateway
  const SECRETS_KEY = (await readFile(join(node.dataDir, 'secrets.key'), 'utf8')).trim()
  other = await startLocalNode({ databaseUrl: database.databaseUrl, env: { ...env, SECRETS_KEY } })
})

after(async () => {
  preset.baseUrl = published
  await other?.stop()
  await other?.remove()
  await admins?.gateway.stop()
  provider.closeAllConnections()
  provider.close()
})

const call = (path: string, body?: unknown, method?: string) => admins.ana.call(path, body, method)
const chat = (baseUrl = admins.gateway.node.baseUrl) =>
  askChat(baseUrl, admins.gateway.secret, sound(MODEL, { max_tokens: 500 }))

async function refused(asked: Promise<Asked>, status: number, error: string): Promise<void> {
  const { status: got, json, text } = await asked
  assert.deepEqual([got, json.error], [status, error], text)
}

async function find(id: string) {
  const { status, json, text } = await call('/admin/upstreams')
  assert.equal(status, 200, text)
  return json.upstreams.find((each: { id: string }) => each.id === id)
}

async function untilHeld(): Promise<void> {
  for (const deadline = Date.now() + 10_000; waiting.length === 0; await sleep(5))
    assert.ok(Date.now() < deadline, 'the provider got no call')
}

async function untilStatus(baseUrl: string, status: number): Promise<void> {
  for (const deadline = Date.now() + 20_000; ; await sleep(20)) {
    const answered = await chat(baseUrl)
    if (answered.status === status) return
    assert.ok(Date.now() < deadline, answered.text)
  }
}

test('a provider that an operator adds by its key answers on all nodes without a restart, at the price of the data', async () => {
  assert.equal((await chat()).status, 404)
  const added = await call('/admin/upstreams', { id: 'openai', kind: 'openai', api_key: KEY })
  assert.equal(added.status, 201, added.text)
  assert.deepEqual(
    [added.json.source, added.json.state, added.json.key_end],
    ['browser', 'active', 'wxyz'],
  )
  await untilStatus(admins.gateway.node.baseUrl, 200)
  await untilStatus(other.baseUrl, 200)
  // USD 2.50 and 15 per million: 1,000 and 500 tokens cost USD 0.01, at 5.2 and 1.25.
  assert.match((await chat()).text, /"cost_billed_brl":0\.065\b/)
  assert.ok(keysSeen.every((seen) => seen === `Bearer ${KEY}`))
  // A built-in model is asked there, too, by the route that it has for this id.
  const built = await askChat(
    other.baseUrl,
    admins.gateway.secret,
    sound('gpt-4o', { max_tokens: 500 }),
  )
  assert.equal(built.json.usage.completion_tokens, 500, built.text)
  await assertAudit(admins.gateway.database)
})

test('its test lists its models and asks one for an answer, and says so', async () => {
  const { status, json, text } = await call('/admin/upstreams/openai/test', {})
  assert.equal(status, 200, text)
  assert.deepEqual([json.models_listed, json.list_fault, json.answer_fault], [2, null, null])
  assert.equal(typeof json.asked_model, 'string')
  onList = (response) => response.writeHead(401).end(`no ${KEY}`)
  const tested = await call('/admin/upstreams/openai/test', {})
  onList = undefined
  assert.equal(tested.json.list_fault, 'A chave foi recusada.')
  for (let calls = 0; calls < 6; calls++) await call('/admin/upstreams/openai/test', {})
  await refused(call('/admin/upstreams/openai/test', {}), 429, 'rate_limit_exceeded')
})

test('a paused or draining provider takes no new calls on any node, and the running ones end', async () => {
  for (const state of ['paused', 'draining']) {
    isHeld = true
    const running = chat()
    await untilHeld()
    const changed = await call('/admin/upstreams/openai', { state }, 'PATCH')
    assert.deepEqual([changed.status, changed.json.state], [200, state], changed.text)
    isHeld = false
    assert.equal((await chat()).status, 503)
    await untilStatus(other.baseUrl, 503)
    waiting.pop()?.()
    assert.equal((await running).status, 200)
    await call('/admin/upstreams/openai', { state: 'active' }, 'PATCH')
    assert.equal((await chat()).status, 200)
    await untilStatus(other.baseUrl, 200)
  }
  const acts = await actsOn(admins.gateway, 'openai')
  assert.deepEqual(
    acts.map(({ action, actor_id }) => [action, actor_id]),
    // Tests that were refused asked nothing.
    [
      'added',
      ...Array.from({ length: 6 }, () => 'tested'),
      ...Array.from({ length: 4 }, () => 'changed'),
    ].map((act) => [`upstream.${act}`, admins.ana.customerId]),
  )
})

test('the next call uses another key at once, while a call under way keeps the connection that it began with', async () => {
  isHeld = true
  const running = chat()
  await untilHeld()
  const changed = await call('/admin/upstreams/openai', { api_key: NEXT_KEY }, 'PATCH')
  assert.deepEqual([changed.status, changed.json.key_end], [200, 'abcd'], changed.text)
  isHeld = false
  assert.equal((await chat()).status, 200)
  assert.equal(keysSeen.at(-1), `Bearer ${NEXT_KEY}`)
  waiting.pop()?.()
  assert.equal((await running).status, 200)
})

test('a key is read back nowhere: no route, row, metric or list has it', async () => {
  const { db } = admins.gateway.database
  const { rows: tables } = await sql<{ name: string }>`
    select tablename as name from pg_tables where schemaname = 'public'`.execute(db)
  const texts = [(await call('/admin/upstreams')).text, (await call('/admin/audit-log')).text]
  for (const { name } of tables) {
    const { rows } = await sql<{ text: string }>`
      select t::text as text from ${sql.table(name)} t`.execute(db)
    texts.push(...rows.map(({ text }) => text))
  }
  assert.ok(texts.some((text) => text.includes('upstream.changed')))
  for (const key of [KEY, NEXT_KEY])
    for (const form of [key, Buffer.from(key).toString('hex'), Buffer.from(key).toString('base64')])
      assert.equal(
        texts.find((text) => text.includes(form)),
        undefined,
      )
})

test('an id belongs to the settings first, and to one kind and address for ever', async () => {
  const add = (body: object) => call('/admin/upstreams', { api_key: KEY, ...body })
  await refused(add({ id: 'sandbox', kind: 'openai' }), 409, 'upstream_exists')
  await refused(add({ id: 'openai', kind: 'openai' }), 409, 'upstream_exists')
  await refused(add({ id: 'x', kind: 'openai', base_url: own }), 400, 'invalid_request')
  await refused(add({ id: 'x', kind: 'openai-compatible' }), 400, 'invalid_request')
  const kept = { id: 'kept', kind: 'openai-compatible', base_url: `${own}/` }
  assert.equal((await add(kept)).status, 201)
  assert.equal((await call('/admin/upstreams/kept', undefined, 'DELETE')).status, 200)
  assert.equal(await find('kept'), undefined)
  await refused(add({ id: 'kept', kind: 'openai' }), 409, 'upstream_exists')
  await refused(add({ ...kept, base_url: 'https://elsewhere.example/v1' }), 409, 'upstream_exists')
  assert.equal((await add(kept)).status, 201)
  await refused(
    call('/admin/upstreams/sandbox', { state: 'paused' }, 'PATCH'),
    404,
    'upstream_not_found',
  )
})

test('an upstream of the file wins over an added one of its id, with its own address and key', async () => {
  const file = loadConfig(
    { OPENAI_API_KEY: 'sk-of-the-environment', SANDBOX_REAL_PROVIDERS: 'true' },
    '/',
  )
  const added = { id: 'openai', kind: 'openai', baseUrl: null, keyEnd: null, apiKey: KEY }
  const row = { ...added, state: 'active', createdAt: new Date() } as const
  assert.equal(withAdded(file, { upstreams: [row], models: [] }, { allowPrivate: false }), file)
})

test('a server at an address of the operator sells nothing that nobody priced, whatever it lists', async () => {
  onList = (response) => response.end(JSON.stringify({ data: [{ id: 'gpt-5.5' }, { id: 'o3' }] }))
  const tested = await call('/admin/upstreams/kept/test', {})
  onList = undefined
  assert.deepEqual([tested.json.models_listed, tested.json.asked_model], [2, null], tested.text)
  assert.equal((await find('kept')).models, 0)
  // Nor does it by the id of a provider, which is the one that the built-in routes have.
  const posing = { id: 'anthropic', kind: 'openai-compatible', base_url: own, api_key: KEY }
  assert.equal((await call('/admin/upstreams', posing)).status, 201)
  assert.equal((await find('anthropic')).models, 0)
  const { json } = await call('/admin/models')
  assert.ok(!JSON.stringify(json).includes('"kept"'))
})

test('a hostile list ends within limits, follows no redirect, and shows none of its words', async () => {
  const words = 'SECRET-WORDS'
  const lists: [string, (response: ServerResponse) => void][] = [
    ['Não foi possível conectar.', (response) => void response.destroy()],
    ['A resposta não é uma lista de modelos.', (response) => response.end(words)],
    [
      'A lista de modelos foi respondida com o status 302.',
      (response) => response.writeHead(302, { location: `${own}/${words}` }).end(),
    ],
    ['A lista de modelos é grande demais.', (response) => response.end('x'.repeat(9_000_000))],
  ]
  for (const [fault, answer] of lists) {
    onList = answer
    const { json, text } = await call('/admin/upstreams/kept/test', {})
    assert.equal(json.list_fault, fault)
    assert.ok(!text.includes(words))
  }
  onList = undefined
})

test('what an operator adds in the browser reaches no private network: not by address, not by name', async () => {
  const options = {
    baseUrl: own,
    apiKey: KEY,
    connectTimeoutMs: 1_000,
    firstByteTimeoutMs: 1_000,
    idleTimeoutMs: 1_000,
    connectionsMax: 1,
    cancelStopsBilling: true,
    maxTokensField: 'max_tokens',
    isPublicOnly: true,
  } as const
  const seen = keysSeen.length
  await assert.rejects(readModelList({ speaks: 'chat-completions', options }), /is not public/)
  const url = new URL(own.replace('127.0.0.1', 'localhost'))
  const errorWith = (lookup: typeof lookupPublic | undefined) => {
    const limits = { connectTimeoutMs: 1_000, headTimeoutMs: 1_000, connectionsMax: 1 }
    const origin = openOrigin(url, { ...limits, keepAliveMs: 1_000, lookup })
    return new Promise<string | undefined>((resolve) => {
      const request = { path: '/v1/models', method: 'GET', headers: {}, body: '' }
      origin.dispatch(request, {
        onResponseEnd: () => resolve(undefined),
        onResponseError: (_controller, error) => resolve(error.message),
      })
    }).finally(() => origin.destroy())
  }
  assert.match((await errorWith(lookupPublic)) ?? '', /localhost/)
  assert.equal(keysSeen.length, seen)
  // The system's resolver leads there: only the guard stands between.
  assert.equal(await errorWith(undefined), undefined)
  const node = loadConfig({}, '/')
  const added = { id: 'x', kind: 'openai-compatible', baseUrl: own, keyEnd: null, apiKey: KEY }
  const row = { ...added, state: 'active', createdAt: new Date() } as const
  const { upstreams } = withAdded(node, { upstreams: [row], models: [] }, { allowPrivate: false })
  assert.deepEqual(
    upstreams.map(({ pricedBy }) => pricedBy),
    [undefined],
  )
  assert.ok(
    upstreams.every(
      ({ adapter }) => 'isPublicOnly' in adapter.options && adapter.options.isPublicOnly,
    ),
  )
})

test('a deleted provider takes its models and its key along', async () => {
  assert.equal((await call('/admin/upstreams/openai', undefined, 'DELETE')).status, 200)
  await untilStatus(admins.gateway.node.baseUrl, 404)
  await untilStatus(other.baseUrl, 404)
  const row = await admins.gateway.database.db
    .selectFrom('upstreams')
    .select(['state', 'key_sealed', 'key_end'])
    .where('upstream_id', '=', 'openai')
    .executeTakeFirstOrThrow()
  assert.deepEqual(row, { state: 'deleted', key_sealed: null, key_end: null })
  await refused(call('/admin/upstreams/openai', undefined, 'DELETE'), 404, 'upstream_not_found')
})

test('one act marks up all models of a maker or all models, or none if one of them cannot be', async () => {
  const shown = async () => {
    const { json } = await call('/admin/models')
    return new Map<string, [vendor: string, markup: number]>(
      json.models.map((each: any) => [each.id, [each.vendor, each.markup_multiplier]]),
    )
  }
  const before = await shown()
  const ids = [...before].filter(([, [vendor]]) => vendor === 'openai').map(([id]) => id)
  assert.ok(ids.length > 5)
  const mark = (vendor: string | null, markup_multiplier: number, more: object = {}) =>
    call('/admin/markups', { vendor, markup_multiplier, reason: 'revisão', ...more })
  assert.equal(
    (await call(`/admin/models/${ids[0]}/markup`, { markup_multiplier: 1.1, reason: 'revisão' }))
      .status,
    201,
  )
  const lowered = await mark('openai', 1.1)
  assert.equal(lowered.status, 201, lowered.text)
  assert.equal(lowered.json.changes.length, ids.length - 1)
  const after = await shown()
  for (const [id, [vendor, markup]] of before)
    assert.equal(after.get(id)?.[1], vendor === 'openai' ? 1.1 : markup, id)
  // A rise for these, a cut for all others: without its notice it happens for none.
  await refused(mark(null, 1.2), 400, 'notice_too_short')
  assert.deepEqual(await shown(), after)
  const startsAt = new Date(Date.now() + 40 * 86_400_000).toISOString()
  const planned = await mark(null, 1.2, { starts_at: startsAt })
  assert.equal(planned.json.changes.length, (await call('/admin/models')).json.models.length)
  await refused(mark('nobody', 1.2), 404, 'model_not_found')
  await assertAudit(admins.gateway.database)
})
