/** `Idempotency-Key`: a repeated request gets the answer of the first one, and nothing happens twice. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import {
  IDEMPOTENCY_KEYS_MAX,
  insertRecord,
  pruneIdempotencyKeys,
} from '../../src/platform/idempotency/idempotency-records.ts'
import { fingerprintOf } from '../../src/http/rest/answer-once.ts'
import { unseal } from '../../src/platform/lib/seal.ts'
import { ensureSealingKey } from '../../src/platform/lib/sealing-key.ts'
import { ask, type Asked } from '../harness/ask.ts'
import { assertAudit } from '../harness/assert-audit.ts'
import { APPROVED, cardBody, DECLINED } from '../harness/cards.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { openSession } from '../harness/open-session.ts'
import { seedPayer, type Payer } from '../harness/payer.ts'
import { seedPaidTopUp } from '../harness/seed-paid-top-up.ts'
import { seedTeam } from '../harness/seed-team.ts'

let gateway: TestGateway

before(async () => {
  gateway = await startGateway({ WEBHOOKS_ALLOW_PRIVATE: 'true' })
})
after(async () => {
  await assertAudit(gateway.database)
  await gateway.stop()
})

function post(secret: string, path: string, body: unknown, key: string): Promise<Asked> {
  return ask(gateway.node.baseUrl, path, {
    method: 'POST',
    secret,
    body,
    headers: { 'idempotency-key': key },
  })
}

async function countRows(table: string, { customerId }: Payer): Promise<number> {
  const { rows } = await sql<{ count: bigint }>`
    select count(*) as count from ${sql.table(table)} where customer_id = ${customerId}`.execute(
    gateway.database.db,
  )
  return Number(rows[0]?.count)
}

function assertSame(again: Asked, first: Asked): void {
  assert.deepEqual([again.status, again.text], [first.status, first.text])
  assert.equal(again.headers.get('idempotent-replayed'), 'true')
  assert.equal(again.headers.get('cache-control'), 'no-store')
}

const KEY_BODY = { name: 'minha chave', model_ids: ['sandbox-chat'] }

interface Creating {
  readonly path: (payer: Payer) => string | Promise<string>
  readonly body?: object
  readonly table: string
}

/** Acts of customers, and the table in which each adds a row. */
const CREATING: Readonly<Record<string, Creating>> = {
  'an API key': { path: () => '/api-keys', body: KEY_BODY, table: 'api_keys' },
  'a top-up': { path: () => '/topups', body: { amount: 50 }, table: 'top_ups' },
  'a saved card': {
    path: () => '/payment-methods',
    body: cardBody(APPROVED),
    table: 'payment_methods',
  },
  'a refund': {
    async path({ customerId }) {
      await seedPaidTopUp(gateway.database.db, { customerId, cents: 5_000 })
      return '/me/refunds'
    },
    body: { amount: 10 },
    table: 'refunds',
  },
  'a prompt': { path: () => '/me/prompts', body: { name: 'abc', body: 'Olá' }, table: 'prompts' },
  'a team': { path: () => '/me/teams', body: { name: 'Equipe' }, table: 'teams' },
  'a key of a team': {
    path: async ({ customerId }) =>
      `/me/teams/${await seedTeam(gateway.database.db, customerId)}/keys`,
    body: KEY_BODY,
    table: 'api_keys',
  },
  'an alert': {
    path: () => '/me/alerts',
    body: { name: 'Saldo', kind: 'balance_below', threshold: 10, channels: ['email'] },
    table: 'alerts',
  },
  'a webhook': {
    path: () => '/webhooks',
    body: { url: 'https://hooks.example.com/a' },
    table: 'webhook_endpoints',
  },
}

for (const [name, { path, body, table }] of Object.entries(CREATING))
  test(`${name} is created once, however often the request is repeated`, async () => {
    const payer = await seedPayer(gateway.database.db)
    const at = await path(payer)
    const before = await countRows(table, payer)
    const key = randomUUID()
    const first = await post(payer.secret, at, body, key)
    assert.equal(first.status, 201, first.text)
    assert.equal(first.headers.get('idempotent-replayed'), null)
    for (const _ of [1, 2]) assertSame(await post(payer.secret, at, body, key), first)
    assert.equal(await countRows(table, payer), before + 1)
    const other = await post(payer.secret, at, body, randomUUID())
    assert.equal(other.status, 201)
    assert.notEqual(other.json.id, first.json.id)
  })

test('of concurrent requests one acts, and the others get its answer or 409', async () => {
  const payer = await seedPayer(gateway.database.db)
  for (const [path, body] of [
    ['/api-keys', KEY_BODY],
    ['/topups', { amount: 20 }],
  ] as const) {
    const key = randomUUID()
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => post(payer.secret, path, body, key)),
    )
    const [first, ...more] = answers.filter(
      ({ status, headers }) => status === 201 && !headers.has('idempotent-replayed'),
    )
    assert.ok(first)
    assert.equal(more.length, 0)
    for (const answer of answers) {
      if (answer === first) continue
      if (answer.status === 409) assert.equal(answer.json.error, 'idempotency_key_in_use')
      else assertSame(answer, first)
    }
    assertSame(await post(payer.secret, path, body, key), first)
  }
  assert.equal(await countRows('top_ups', payer), 1)
  assert.equal(await countRows('api_keys', payer), 2)
})

test('the same key with another body, path or query is refused, and does nothing', async () => {
  const payer = await seedPayer(gateway.database.db)
  const key = randomUUID()
  assert.equal((await post(payer.secret, '/topups', { amount: 50 }, key)).status, 201)
  for (const [path, body] of [
    ['/topups', { amount: 51 }],
    ['/topups?x=1', { amount: 50 }],
    ['/api-keys', KEY_BODY],
  ] as const) {
    const refused = await post(payer.secret, path, body, key)
    assert.deepEqual([refused.status, refused.json.error], [422, 'idempotency_key_reused'])
  }
  assert.equal(await countRows('top_ups', payer), 1)
  assert.equal(await countRows('api_keys', payer), 1)
})

test('each caller has keys of its own; the login sessions of a customer are one caller', async () => {
  const { db } = gateway.database
  const [payer, stranger] = [await seedPayer(db), await seedPayer(db)]
  const at = { db, dataDir: gateway.node.dataDir }
  const key = randomUUID()
  const first = await post(payer.secret, '/api-keys', { ...KEY_BODY, scope: 'calls' }, key)
  const body = { ...KEY_BODY, scope: 'calls' }
  const ofStranger = await post(stranger.secret, '/api-keys', body, key)
  assert.equal(ofStranger.status, 201)
  const sessions = [
    await openSession(at, payer.customerId),
    await openSession(at, payer.customerId),
  ] as const
  const ofSession = await post(sessions[0], '/api-keys', body, key)
  assert.equal(ofSession.status, 201)
  assertSame(await post(sessions[1], '/api-keys', body, key), ofSession)
  const secrets = [first, ofStranger, ofSession].map(({ json }) => json.key)
  assert.equal(new Set(secrets).size, 3)
  const withoutSession = await ask(gateway.node.baseUrl, '/api-keys', {
    body,
    headers: { 'idempotency-key': key },
  })
  assert.equal(withoutSession.status, 401)
})

test("a repeated answer has the new key's secret, which neither the database nor the operator's key opens", async () => {
  const { db } = gateway.database
  const payer = await seedPayer(db)
  const key = randomUUID()
  const first = await post(payer.secret, '/api-keys', KEY_BODY, key)
  assertSame(await post(payer.secret, '/api-keys', KEY_BODY, key), first)
  const { id, content_sealed } = await db
    .selectFrom('idempotency_keys')
    .select(['id', 'content_sealed'])
    .where('customer_id', '=', payer.customerId)
    .executeTakeFirstOrThrow()
  const opened = unseal(await ensureSealingKey(gateway.node.dataDir), id, content_sealed)
  assert.ok(!opened.includes(first.json.key))
  const { rows } = await sql<{ text: string }>`
    select t::text as text from idempotency_keys t`.execute(db)
  assert.ok(rows.every(({ text }) => !text.includes(key) && !text.includes(first.json.key)))
})

test('a request that is refused before it acts may be corrected and sent again with its key', async () => {
  const payer = await seedPayer(gateway.database.db)
  for (const [path, wrong, right] of [
    ['/api-keys', { name: 'a' }, KEY_BODY],
    ['/topups', { amount: 1 }, { amount: 50 }],
  ] as const) {
    const key = randomUUID()
    for (const _ of [1, 2]) {
      const refused = await post(payer.secret, path, wrong, key)
      assert.equal(refused.status, 400)
      assert.equal(refused.headers.get('idempotent-replayed'), null)
    }
    assert.equal((await post(payer.secret, path, right, key)).status, 201)
  }
})

test('a refused card is an outcome: the processor is not asked again', async () => {
  const payer = await seedPayer(gateway.database.db)
  const key = randomUUID()
  const first = await post(payer.secret, '/payment-methods', cardBody(DECLINED), key)
  assert.deepEqual([first.status, first.json.error], [400, 'card_rejected'])
  assertSame(await post(payer.secret, '/payment-methods', cardBody(DECLINED), key), first)
  assert.equal(await countRows('card_attempts', payer), 1)
})

test('an act that takes itself back answers its own refusal', async () => {
  const payer = await seedPayer(gateway.database.db)
  for (const _ of [1, 2]) {
    const refused = await post(
      payer.secret,
      '/me/invitations/accept',
      { token: 'none' },
      'same-key',
    )
    assert.deepEqual([refused.status, refused.json.error], [404, 'invitation_not_found'])
  }
})

test('an act whose answer was not stored is resumed, not repeated', async () => {
  const { db } = gateway.database
  const payer = await seedPayer(db)
  const key = randomUUID()
  const body = { amount: 50 }
  const first = await post(payer.secret, '/topups', body, key)
  await unanswer(payer, key, body)
  const running = await post(payer.secret, '/topups', body, key)
  assert.deepEqual([running.status, running.json.error], [409, 'idempotency_key_in_use'])
  assert.equal(running.headers.get('retry-after'), '1')
  await sql`update idempotency_keys set running_until = now()
    where customer_id = ${payer.customerId}`.execute(db)
  const resumed = await post(payer.secret, '/topups', body, key)
  assert.deepEqual([resumed.status, resumed.text], [first.status, first.text])
  assert.equal(await countRows('top_ups', payer), 1)
  assertSame(await post(payer.secret, '/topups', body, key), first)
})

/** Puts the record back to the claim that it was before the act. */
async function unanswer({ customerId }: Payer, key: string, body: object): Promise<void> {
  const { db } = gateway.database
  const { id, api_key_id } = await db
    .deleteFrom('idempotency_keys')
    .where('customer_id', '=', customerId)
    .returning(['id', 'api_key_id'])
    .executeTakeFirstOrThrow()
  const sealingKey = await ensureSealingKey(gateway.node.dataDir)
  const fingerprint = fingerprintOf('POST', '/v1/topups', Buffer.from(JSON.stringify(body)))
  const apiKeyId = api_key_id ?? undefined
  const request = { customerId, apiKeyId, key, fingerprint }
  await insertRecord(db, { sealingKey }, request, { id, runsForSeconds: 60 })
}

test('a key is free after a day, and its record is deleted', async () => {
  const { db } = gateway.database
  const payer = await seedPayer(db)
  const key = randomUUID()
  const first = await post(payer.secret, '/me/teams', { name: 'Equipe' }, key)
  const age = () =>
    sql`update idempotency_keys set created_at = now() - interval '24 hours'
      where customer_id = ${payer.customerId}`.execute(db)
  await age()
  const second = await post(payer.secret, '/me/teams', { name: 'Outra' }, key)
  assert.equal(second.status, 201)
  assert.notEqual(second.json.id, first.json.id)
  await age()
  await pruneIdempotencyKeys(db)
  assert.equal(await countRows('idempotency_keys', payer), 0)
})

test('a customer stores a limited number of answers; sessions and keys do not take from each other', async () => {
  const { db } = gateway.database
  const payer = await seedPayer(db)
  await sql`
    insert into idempotency_keys (id, customer_id, api_key_id, key_digest, content_sealed, is_answered)
    select gen_random_uuid(), ${payer.customerId}, gen_random_uuid(), sha256(n::text::bytea), '\\x00', true
    from generate_series(1, ${IDEMPOTENCY_KEYS_MAX}) n`.execute(db)
  const refused = await post(payer.secret, '/me/teams', { name: 'Equipe' }, randomUUID())
  assert.deepEqual([refused.status, refused.json.error], [429, 'too_many_idempotency_keys'])
  const session = await openSession({ db, dataDir: gateway.node.dataDir }, payer.customerId)
  const made = await post(session, '/me/teams', { name: 'Equipe' }, randomUUID())
  assert.equal(made.status, 201, made.text)
  const without = await ask(gateway.node.baseUrl, '/me/teams', {
    secret: payer.secret,
    body: { name: 'Outra' },
  })
  assert.equal(without.status, 201)
})

test('a key has 1 to 255 visible characters', async () => {
  const payer = await seedPayer(gateway.database.db)
  for (const key of ['a b', 'x'.repeat(256)]) {
    const refused = await post(payer.secret, '/me/teams', { name: 'Equipe' }, key)
    assert.deepEqual([refused.status, refused.json.error], [400, 'invalid_request'])
    assert.match(refused.json.details, /^idempotency-key: /)
  }
  const made = await post(payer.secret, '/me/teams', { name: 'Equipe' }, `"${'x'.repeat(253)}"`)
  assert.equal(made.status, 201)
})
