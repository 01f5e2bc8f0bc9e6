/** Paused keys: by their owner, by a report of a leak, and all at once. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { createApiKey } from '../../src/customers/api-keys.ts'
import { createKeySecret, isKeySecret } from '../../src/customers/key-secret.ts'
import { createCustomer } from '../../src/customers/customers.ts'
import { pauseByOperator, pauseKeys } from '../../src/customers/pause-keys.ts'
import { credit } from '../../src/money/ledger/entries.ts'
import { createId, sha256 } from '../../src/platform/lib/ids.ts'
import { NANO_PER_BRL } from '../../src/platform/lib/money.ts'
import { ask, askChat, sound, type Asked } from '../harness/ask.ts'
import fc from '../harness/fast-check.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { openSession } from '../harness/open-session.ts'
import { startLocalNode, type LocalNode } from '../harness/local-node.ts'

let gateway: TestGateway
let second: LocalNode

before(async () => {
  gateway = await startGateway()
  second = await startLocalNode({ databaseUrl: gateway.database.databaseUrl })
})
after(async () => {
  await second.stop()
  await second.remove()
  await gateway.stop()
})

const post = (path: string, secret: string | undefined, body?: unknown): Promise<Asked> =>
  ask(gateway.node.baseUrl, path, { method: 'POST', secret, body })

async function seedOwner() {
  const { db } = gateway.database
  const customer = await createCustomer(db, {
    name: 'Dona da chave',
    email: `dona.${createId()}@example.com`,
  })
  assert.ok(!('kind' in customer))
  const customerId = customer.id
  await credit(db, {
    customerId,
    amountNanoBrl: 100n * NANO_PER_BRL,
    reason: 'top_up',
    reference: createId(),
  })
  const make = (scope: 'calls' | 'account' | 'manage') =>
    createApiKey(db, { customerId, name: `chave ${scope}`, scope, requestsPerMinute: 1_000_000 })
  const [calls, account, manage] = [
    await make('calls'),
    await make('account'),
    await make('manage'),
  ]
  return { customerId, calls, account, manage }
}

async function eventsOf(customerId: string): Promise<{ type: string; data: any }[]> {
  const rows = await gateway.database.db
    .selectFrom('events')
    .select(['type', 'data'])
    .where('customer_id', '=', customerId)
    .orderBy('id')
    .execute()
  return rows.filter(({ type }) => type === 'key.paused' || type === 'key.resumed')
}

test('a paused key is refused on every node from the next request on, and works again once it is resumed', async () => {
  const { customerId, calls, account, manage } = await seedOwner()
  const nodes = [gateway.node.baseUrl, second.baseUrl]
  for (const url of nodes) assert.equal((await askChat(url, calls.secret, sound())).status, 200)
  const paused = await post(`/api-keys/${calls.key.id}/pause`, account.secret)
  assert.equal(paused.status, 200, paused.text)
  assert.equal(paused.json.status, 'paused')
  assert.equal(paused.json.paused_reason, 'owner')
  for (const url of nodes) {
    const refused = await askChat(url, calls.secret, sound())
    assert.equal(refused.status, 403)
    assert.equal(refused.json.error.code, 'key_paused')
    assert.match(refused.json.error.message, /pausada.*retome a chave no painel.*Nada foi cobrado/)
  }
  const rest = await ask(gateway.node.baseUrl, '/usage', { secret: calls.secret })
  assert.equal(rest.status, 403)
  assert.equal(rest.json.error, 'key_paused')
  // A key resumes neither itself nor, without the scope, another.
  assert.equal(
    (await post(`/api-keys/${calls.key.id}/resume`, calls.secret)).json.error,
    'key_paused',
  )
  assert.equal((await post(`/api-keys/${calls.key.id}/resume`, account.secret)).status, 403)
  const resumed = await post(`/api-keys/${calls.key.id}/resume`, manage.secret)
  assert.equal(resumed.status, 200, resumed.text)
  assert.equal(resumed.json.paused_reason, null)
  for (const url of nodes) assert.equal((await askChat(url, calls.secret, sound())).status, 200)
  // Repeats change nothing and notify nobody.
  assert.equal((await post(`/api-keys/${calls.key.id}/resume`, manage.secret)).status, 200)
  assert.deepEqual(
    (await eventsOf(customerId)).map(({ type, data }) => [type, data.id, data.reason]),
    [
      ['key.paused', calls.key.id, 'owner'],
      ['key.resumed', calls.key.id, undefined],
    ],
  )
})

test("only the operator resumes an operator's pause", async () => {
  const { calls, manage } = await seedOwner()
  await pauseByOperator(gateway.database.db, { keyId: calls.key.id })
  const refused = await post(`/api-keys/${calls.key.id}/resume`, manage.secret)
  assert.equal(refused.status, 403)
  assert.equal(refused.json.error, 'paused_by_operator')
})

test("no customer pauses or resumes another's key", async () => {
  const { calls } = await seedOwner()
  const other = await seedOwner()
  for (const act of ['pause', 'resume']) {
    const answer = await post(`/api-keys/${calls.key.id}/${act}`, other.manage.secret)
    assert.equal(answer.status, 404)
    assert.equal(answer.json.error, 'key_not_found')
  }
  assert.equal((await askChat(gateway.node.baseUrl, calls.secret, sound())).status, 200)
})

test('a report of a leak pauses the key at once, notifies its owner, and says the same of any text', async () => {
  const { customerId, calls } = await seedOwner()
  const texts = [calls.secret, calls.secret, createKeySecret(), 'sk-svc-none', 'x'.repeat(200)]
  const answers = []
  for (const key of texts) {
    const { status, text } = await post('/leaked-keys', undefined, { key })
    answers.push({ status, text })
  }
  assert.deepEqual(new Set(answers.map((each) => JSON.stringify(each))).size, 1)
  assert.equal(answers[0]?.status, 200)
  const refused = await askChat(second.baseUrl, calls.secret, sound())
  assert.equal(refused.json.error.code, 'key_paused')
  assert.match(refused.json.error.message, /exposto.*Revogue-a/)
  assert.deepEqual(
    (await eventsOf(customerId)).map(({ type, data }) => [type, data.reason]),
    [['key.paused', 'leaked']],
  )
  const acts = await gateway.database.db
    .selectFrom('audit_log')
    .select(['actor_kind', 'action', 'details'])
    .where('subject_id', '=', calls.key.id)
    .execute()
  assert.deepEqual(acts, [
    { actor_kind: 'system', action: 'api_key.paused', details: { reason: 'leaked' } },
  ])
  for (const log of [gateway.node.log, second.log])
    assert.ok(!log.join('\n').includes(calls.secret))
})

/** A look-up finds the key by this secret, whatever its form. */
async function createKeyOf(customerId: string, secret: string): Promise<void> {
  const { db } = gateway.database
  const { key } = await createApiKey(db, { name: 'exposta', customerId, requestsPerMinute: 60 })
  await sql`update api_keys set secret_hash = ${sha256(secret)} where id = ${key.id}`.execute(db)
}

test('a report finds the key in what was copied along with it, of a cell too', async () => {
  const { customerId } = await seedOwner()
  for (const [before, after, cell] of [
    ['CATRACA_API_KEY="', '"', undefined],
    ['Bearer ', ',', 'b1'],
  ] as const) {
    const secret = createKeySecret(cell)
    await createKeyOf(customerId, secret)
    assert.equal((await askChat(gateway.node.baseUrl, secret, sound())).status, 200)
    await post('/leaked-keys', undefined, { key: before + secret + after })
    const refused = await askChat(gateway.node.baseUrl, secret, sound())
    assert.equal(refused.json.error.code, 'key_paused')
  }
})

test('a stronger reason replaces a weaker one and is told, and a weaker one changes nothing', async () => {
  const { customerId, calls, account } = await seedOwner()
  const { db } = gateway.database
  const pausedReason = async (): Promise<string> =>
    (await ask(gateway.node.baseUrl, `/api-keys/${calls.key.id}`, { secret: account.secret })).json
      .paused_reason
  await post(`/api-keys/${calls.key.id}/pause`, account.secret)
  await post('/leaked-keys', undefined, { key: calls.secret })
  assert.equal(await pausedReason(), 'leaked')
  await post(`/api-keys/${calls.key.id}/pause`, account.secret)
  assert.equal(await pausedReason(), 'leaked')
  assert.deepEqual(
    (await eventsOf(customerId)).map(({ type, data }) => [type, data.reason]),
    [
      ['key.paused', 'owner'],
      ['key.paused', 'leaked'],
    ],
  )
  assert.equal((await pauseByOperator(db, { keyId: calls.key.id })).length, 1)
  for (const reason of ['leaked', 'owner', 'anomaly'] as const)
    assert.equal((await pauseKeys(db, { keyId: calls.key.id }, reason)).length, 0, reason)
  assert.equal(await pausedReason(), 'operator')
})

test('the page takes a report without an account', async () => {
  const { calls } = await seedOwner()
  const url = new URL('/chave-vazada', gateway.node.baseUrl)
  const form = await fetch(url)
  assert.equal(form.status, 200)
  assert.match(await form.text(), /<form method="post">/)
  const sent = await fetch(url, {
    method: 'POST',
    body: new URLSearchParams({ key: ` ${calls.secret} ` }),
  })
  assert.equal(sent.status, 200)
  assert.match(await sent.text(), /Recebido/)
  const refused = await askChat(gateway.node.baseUrl, calls.secret, sound())
  assert.equal(refused.json.error.code, 'key_paused')
})

test('one network reports only so often in an hour', async () => {
  let last: Asked | undefined
  for (let tries = 0; tries < 25 && last?.status !== 429; tries++)
    last = await post('/leaked-keys', undefined, { key: 'sk-svc-none' })
  assert.equal(last?.status, 429)
  assert.equal(last?.json.error, 'too_many_requests')
  assert.ok(Number(last?.headers.get('retry-after')) > 0)
})

test('panic pauses every key, ends the other sessions, and says what it did', async () => {
  const { customerId, calls, account, manage } = await seedOwner()
  const at = { db: gateway.database.db, dataDir: gateway.node.dataDir }
  const [own, other] = [await openSession(at, customerId), await openSession(at, customerId)]
  const bystander = await seedOwner()
  assert.equal((await post('/me/panic', account.secret, { confirm: true })).status, 403)
  assert.equal((await post('/me/panic', own, {})).status, 400)
  const answer = await post('/me/panic', own, { confirm: true })
  assert.equal(answer.status, 200, answer.text)
  assert.deepEqual(answer.json, {
    paused_keys: 3,
    ended_sessions: 1,
    is_automatic_topup_off: false,
  })
  for (const { secret } of [calls, account, manage])
    assert.equal((await askChat(second.baseUrl, secret, sound())).json.error.code, 'key_paused')
  assert.equal((await ask(gateway.node.baseUrl, '/session', { secret: other })).status, 401)
  assert.equal((await post(`/api-keys/${manage.key.id}/resume`, own)).status, 200)
  assert.equal((await askChat(second.baseUrl, bystander.calls.secret, sound())).status, 200)
})

test('a secret has a checksum that any other character breaks', () => {
  fc.assert(
    fc.property(fc.nat({ max: 37 }), fc.integer({ min: 1, max: 61 }), (place, turn) => {
      const letters = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
      const secret = createKeySecret()
      assert.match(secret, /^sk-svc-[0-9A-Za-z]{38}$/)
      assert.equal(isKeySecret(secret), true)
      const at = 'sk-svc-'.length + place
      const other = letters[(letters.indexOf(secret[at] as string) + turn) % 62]
      assert.equal(isKeySecret(secret.slice(0, at) + other + secret.slice(at + 1)), false)
    }),
  )
})

test('a secret without its checksum, or with a wrong one, is refused without a look-up', async () => {
  const { customerId } = await seedOwner()
  for (const secret of [createKeySecret().slice(0, -6), `sk-svc-${'0'.repeat(38)}`]) {
    assert.equal(isKeySecret(secret), false)
    await createKeyOf(customerId, secret)
    assert.equal((await askChat(gateway.node.baseUrl, secret, sound())).status, 401)
  }
})
