/** The catalog as clients ask for it: by key, and in the shape of their API. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ask, type Asked } from '../harness/ask.ts'
import { assertHeaders, assertMessagesRefusal, assertRefusal } from '../harness/assert-answer.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { seedCustomer } from '../harness/test-database.ts'

let gateway: TestGateway
/** Of a key for two models only, of which one is for chats. */
let narrow: string

before(async () => {
  gateway = await startGateway()
  narrow = (
    await seedCustomer(gateway.database.db, {
      balanceBrl: '10',
      modelIds: ['sandbox-chat', 'sandbox-embedding'],
    })
  ).secret
})

after(() => gateway.stop())

const VERSION = { 'anthropic-version': '2023-06-01' }

function list(path: string, secret?: string, headers: Record<string, string> = {}): Promise<Asked> {
  return ask(gateway.node.baseUrl, path, { secret, headers })
}

const idsOf = ({ json }: Asked): string[] => json.data.map(({ id }: { id: string }) => id)

test('a key sees the models that it may call; without a key all are there', async () => {
  const all = await list('/models')
  assert.ok(idsOf(all).length > 20)
  assert.deepEqual(idsOf(await list('/models', gateway.secret)), idsOf(all))
  const seen = await list('/models', narrow)
  assert.deepEqual(idsOf(seen).toSorted(), ['sandbox-chat', 'sandbox-embedding'])
  assert.deepEqual(
    seen.json.models.map(({ id }: { id: string }) => id),
    idsOf(seen),
  )
  assert.match(seen.headers.get('vary') ?? '', /authorization/)
  assert.equal((await list('/models/sandbox-chat', narrow)).status, 200)
  const hidden = await list('/models/sandbox-long', narrow)
  assertRefusal(hidden, 404, 'model_not_found')
  assert.equal((await list('/models/sandbox-long')).status, 200)
})

test('a wrong key gets 401, so that a test of settings fails', async () => {
  for (const path of ['/models', '/models/sandbox-chat'])
    for (const headers of [
      { authorization: 'Bearer sk-svc-none' },
      { 'x-api-key': 'sk-svc-none' },
      { authorization: 'Basic abc' },
    ]) {
      const answer = await list(path, undefined, headers)
      assert.deepEqual([answer.status, answer.json.error.code], [401, 'authentication_failed'])
      assertHeaders(answer, answer.requestId)
      const ofMessages = await list(path, undefined, { ...headers, ...VERSION })
      assertMessagesRefusal(ofMessages, 401, 'authentication_failed')
    }
})

test('a key outside of its addresses sees nothing', async () => {
  const { secret } = await seedCustomer(gateway.database.db, {
    balanceBrl: '10',
    ipAllowlist: ['203.0.113.0/24'],
  })
  const answer = await list('/models', secret)
  assert.deepEqual([answer.status, answer.json.error], [403, 'ip_blocked_by_allowlist'])
})

test('with anthropic-version the models for chats have the shape of Messages, page by page', async () => {
  const chats = idsOf(await list('/models?category=llm'))
  const whole = await list('/models?limit=1000', gateway.secret, VERSION)
  assert.deepEqual(idsOf(whole), chats)
  assert.deepEqual(
    [whole.json.first_id, whole.json.last_id, whole.json.has_more],
    [chats[0], chats.at(-1), false],
  )
  for (const model of whole.json.data) {
    const { type, id, display_name: name, created_at: createdAt, ...limits } = model
    assert.equal(type, 'model')
    assert.ok(name.length > 0, id)
    assert.match(createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    assert.ok(limits.max_input_tokens > 0 && limits.max_tokens > 0, id)
  }
  const seen: string[] = []
  let next = '/models?limit=7'
  for (let hasMore = true; hasMore;) {
    const { json } = await list(next, undefined, VERSION)
    seen.push(...json.data.map(({ id }: { id: string }) => id))
    hasMore = json.has_more
    next = `/models?limit=7&after_id=${encodeURIComponent(json.last_id)}`
  }
  assert.deepEqual(seen, chats)
  const back = await list(`/models?limit=3&before_id=${chats[10]}`, undefined, VERSION)
  assert.deepEqual([idsOf(back), back.json.has_more], [chats.slice(7, 10), true])
  assert.equal(idsOf(await list('/models', undefined, VERSION)).length, 20)
  const empty = await list('/models?after_id=none', undefined, VERSION)
  assert.deepEqual(empty.json, { data: [], first_id: null, last_id: null, has_more: false })
  assert.equal((await list('/models?limit=1001', undefined, VERSION)).status, 400)
  assert.deepEqual(idsOf(await list('/models', narrow, VERSION)), ['sandbox-chat'])
})

test('with anthropic-version one model has the shape of Messages, and so has its absence', async () => {
  const { json } = await list('/models/sandbox-chat?beta=true', gateway.secret, VERSION)
  assert.deepEqual([json.type, json.id], ['model', 'sandbox-chat'])
  const missing = await list('/models/claude-99', gateway.secret, VERSION)
  assertMessagesRefusal(missing, 404, 'model_not_found')
})

test('HEAD / answers 200: clients test the address with it', async () => {
  const { origin } = new URL(gateway.node.baseUrl)
  const answer = await fetch(origin, { method: 'HEAD' })
  assert.deepEqual([answer.status, await answer.text()], [200, ''])
})
