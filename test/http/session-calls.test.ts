/** Model calls of a customer in a login session: charged to one of their keys, which they name by its id. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createApiKey, revokeApiKey, type ApiKeyInput } from '../../src/customers/api-keys.ts'
import { credit, findAccount } from '../../src/money/ledger/entries.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { parseBrl } from '../../src/platform/lib/money.ts'
import { enterByLink, type SignedIn } from '../harness/sign-in-browser.ts'
import { ask, billedIn } from '../harness/ask.ts'
import { assertAudit, untilNoHoldIsOpen } from '../harness/assert-audit.ts'
import { startGateway } from '../harness/gateway.ts'

const gateway = await startGateway()
after(() => gateway.stop())
const { db } = gateway.database
const { baseUrl } = gateway.node

const CHAT = { model: 'sandbox-chat', messages: [{ role: 'user', content: 'Olá' }] }

interface Person extends SignedIn {
  /** Makes a key, and returns what its model calls need. */
  newKey(more?: Partial<ApiKeyInput>): Promise<{ id: string; headers: Record<string, string> }>
  balance(): Promise<bigint | undefined>
}

async function enter(): Promise<Person> {
  const person = await enterByLink(db, baseUrl, `${createId()}@exemplo.com.br`)
  const { customerId, csrfToken } = person
  const amountNanoBrl = 10_000_000_000n
  await credit(db, { customerId, amountNanoBrl, reason: 'manual', reference: createId() })
  return {
    ...person,
    async newKey(more) {
      const input = { name: 'painel', requestsPerMinute: 1_000, customerId, ...more }
      const { id } = (await createApiKey(db, input)).key
      return { id, headers: { 'x-csrf-token': csrfToken, 'x-svc-api-key-id': id } }
    },
    async balance() {
      return (await findAccount(db, customerId))?.balanceNanoBrl
    },
  }
}

test('a call of a login session is charged through the key that it names, streamed or plain', async () => {
  const person = await enter()
  const key = await person.newKey()
  await person.newKey()
  const before = await person.balance()
  const plain = await person.browser.post('/v1/chat/completions', CHAT, key.headers)
  assert.equal(plain.status, 200, plain.text)
  assert.ok(Number(billedIn(plain.text)) > 0)
  const streaming = { ...CHAT, stream: true, stream_options: { include_usage: true } }
  const streamed = await person.browser.post('/v1/chat/completions', streaming, key.headers)
  assert.equal(streamed.status, 200, streamed.text)
  assert.match(streamed.text, /"cost_billed_brl"/)
  await untilNoHoldIsOpen(gateway.database)
  const events = await db
    .selectFrom('usage_events')
    .select(['api_key_id', 'cost_billed_nano_brl'])
    .where('customer_id', '=', person.customerId)
    .execute()
  assert.deepEqual(
    events.map((event) => event.api_key_id),
    [key.id, key.id],
  )
  const charged = events.reduce((sum, event) => sum + (event.cost_billed_nano_brl ?? 0n), 0n)
  assert.ok(charged > 0n)
  assert.equal(await person.balance(), (before ?? 0n) - charged)
  await assertAudit(gateway.database)
})

test("no call is paid without the session's token, or through a key that has ended or belongs to another customer", async () => {
  const [person, other] = [await enter(), await enter()]
  const { headers } = await person.newKey()
  const theirs = await other.newKey()
  const revoked = await person.newKey()
  await revokeApiKey(db, revoked.id)
  const expired = await person.newKey({ expiresAt: new Date(Date.now() - 1_000) })
  const before = [await person.balance(), await other.balance()]
  const bad: Record<string, Record<string, string>> = {
    'no token': { 'x-svc-api-key-id': headers['x-svc-api-key-id'] as string },
    "another session's token": { ...headers, 'x-csrf-token': other.csrfToken },
    "another's key": { ...headers, 'x-svc-api-key-id': theirs.id },
    'a revoked key': { ...headers, 'x-svc-api-key-id': revoked.id },
    'an expired key': { ...headers, 'x-svc-api-key-id': expired.id },
    'no id of a key': { ...headers, 'x-svc-api-key-id': 'x' },
    'a secret that is none': { ...headers, authorization: 'Bearer sk-svc-nada' },
  }
  for (const [why, each] of Object.entries(bad)) {
    const refused = await person.browser.post('/v1/chat/completions', CHAT, each)
    assert.deepEqual([refused.status, refused.json.error.type], [401, 'authentication_failed'], why)
  }
  const signedOut = await ask(baseUrl, '/chat/completions', { body: CHAT, headers })
  assert.equal(signedOut.status, 401)
  assert.deepEqual([await person.balance(), await other.balance()], before)
})

test('the limits of a key also apply to calls of a session through it', async () => {
  const person = await enter()
  const [elsewhere, narrow] = [
    await person.newKey({ ipAllowlist: ['203.0.113.0/24'] }),
    await person.newKey({ modelIds: ['sandbox-embedding'] }),
  ]
  const blocked = await person.browser.post('/v1/chat/completions', CHAT, elsewhere.headers)
  assert.equal(blocked.json.error.code, 'ip_blocked_by_allowlist')
  const denied = await person.browser.post('/v1/chat/completions', CHAT, narrow.headers)
  assert.equal(denied.json.error.code, 'key_model_access_denied')
})

test('a session runs a prompt through a key that it names; a key cannot name another key', async () => {
  const [person, other] = [await enter(), await enter()]
  const key = await person.newKey()
  const { headers } = key
  const input = { name: 'Saudação', body: 'Olá, {{nome}}!', default_model: 'sandbox-chat' }
  const { id } = (await person.browser.post('/v1/me/prompts', input, headers)).json
  const run = (body: object): ReturnType<typeof person.browser.post> =>
    person.browser.post(`/v1/me/prompts/${id}/run`, { values: { nome: 'Ana' }, ...body }, headers)
  const before = await person.balance()
  const done = await run({ api_key_id: key.id })
  assert.equal(done.status, 200, done.text)
  assert.equal(
    await person.balance(),
    (before ?? 0n) - (parseBrl(String(billedIn(done.text))) ?? 0n),
  )
  assert.equal((await run({})).json.details, 'api_key: é obrigatório')
  for (const keyId of [(await other.newKey()).id, 'x'])
    assert.equal((await run({ api_key_id: keyId })).json.error, 'key_not_found')
  const secret = gateway.secret
  const both = await run({ api_key_id: key.id, api_key: secret })
  assert.match(both.json.details, /^api_key_id: /)
  const made = await ask(baseUrl, '/me/prompts', { secret, body: input })
  const byKey = await ask(baseUrl, `/me/prompts/${made.json.id}/run`, {
    secret,
    body: { api_key_id: key.id, values: { nome: 'Ana' } },
  })
  assert.match(byKey.json.details, /^api_key_id: /)
})
