/** Customers manage where their usage goes, and nobody else's. That it arrives is in `test/usage-destinations`. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createApiKey } from '../../src/customers/api-keys.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { ask, type Asked } from '../harness/ask.ts'
import { startGateway } from '../harness/gateway.ts'
import { openSession } from '../harness/open-session.ts'
import { seedCustomer } from '../harness/test-database.ts'

const gateway = await startGateway()
after(() => gateway.stop())
const { db } = gateway.database
const { baseUrl, dataDir } = gateway.node
const SECRET = 'sk-lf-nunca-mostrada'
const LANGFUSE = {
  kind: 'langfuse',
  url: 'https://cloud.langfuse.com',
  public_key: 'pk-lf-1',
  secret_key: SECRET,
}
const OTLP = {
  kind: 'otlp',
  url: 'https://otlp.example.com',
  headers: { Authorization: 'Bearer nunca-mostrado' },
}

type Call = (method: string, path: string, body?: unknown) => Promise<Asked>

async function createCustomer(): Promise<{ customerId: string; call: Call }> {
  const { customerId, secret } = await seedCustomer(db, { balanceBrl: '0' })
  return {
    customerId,
    call: (method, path, body) => ask(baseUrl, path, { method, secret, body }),
  }
}

async function create(call: Call, body: object): Promise<any> {
  const made = await call('POST', '/usage/destinations', body)
  assert.equal(made.status, 201, made.text)
  return made.json
}

function assertFault({ status, json, text }: Asked, details: RegExp): void {
  assert.equal(status, 400, text)
  assert.equal(json.error, 'invalid_request')
  assert.match(json.details, details)
}

test('a destination is created, read, changed and deleted; each act is in the audit log, and no answer has its secrets', async () => {
  const { customerId, call } = await createCustomer()
  const made = await call('POST', '/usage/destinations', LANGFUSE)
  const { id } = made.json
  const other = await create(call, OTLP)
  assert.deepEqual(other.header_names, ['authorization'])
  const answers = [
    made,
    await call('GET', '/usage/destinations'),
    await call('GET', `/usage/destinations/${id}`),
    await call('PATCH', `/usage/destinations/${id}`, { includes_content: true }),
    await call('PATCH', `/usage/destinations/${id}`, {
      public_key: 'pk-lf-2',
      secret_key: `${SECRET}-2`,
    }),
    await call('DELETE', `/usage/destinations/${id}`),
    await call('GET', '/me/export'),
  ]
  for (const { status, text } of answers) {
    assert.ok(status < 300, text)
    assert.ok(!/nunca-mostrad/.test(text), text)
  }
  const { public_key, includes_content, is_enabled, sent, test, last_error } = made.json
  assert.deepEqual(
    { public_key, includes_content, is_enabled, sent, test, last_error },
    {
      public_key: 'pk-lf-1',
      includes_content: false,
      is_enabled: true,
      sent: 0,
      test: null,
      last_error: null,
    },
  )
  assert.equal(answers[1]?.json.destinations.length, 2)
  assert.equal(answers[4]?.json.public_key, 'pk-lf-2')
  assert.equal((await call('GET', `/usage/destinations/${id}`)).status, 404)
  const acts = await db
    .selectFrom('audit_log')
    .select(['action', 'details'])
    .where('customer_id', '=', customerId)
    .where('action', 'like', 'usage_destination.%')
    .orderBy('created_at')
    .execute()
  assert.deepEqual(
    acts.map(({ action }) => action),
    ['created', 'created', 'changed', 'changed', 'deleted'].map(
      (verb) => `usage_destination.${verb}`,
    ),
  )
  assert.ok(!JSON.stringify(acts).includes('nunca-mostrad'))
})

test('a customer has at most three destinations, also with concurrent creations', async () => {
  const { call } = await createCustomer()
  const made = await Promise.all(
    Array.from({ length: 6 }, () => call('POST', '/usage/destinations', OTLP)),
  )
  assert.equal(made.filter(({ status }) => status === 201).length, 3)
  for (const { status, json } of made)
    if (status !== 201) assert.deepEqual([status, json.error], [409, 'too_many_usage_destinations'])
})

test('an address that is private, or tells more than a host and a path, is refused when it is set', async () => {
  const { call } = await createCustomer()
  for (const url of [
    'https://127.0.0.1:4318',
    'https://169.254.169.254/',
    'https://localhost/',
    'https://user:pass@otlp.example.com',
    'https://otlp.example.com/?x=1',
    'https://otlp.example.com/v1/traces?',
    'https://otlp.example.com:25/',
    'ftp://otlp.example.com',
  ])
    assertFault(await call('POST', '/usage/destinations', { ...OTLP, url }), /^url: /)
})

test('each kind has its own secrets, and headers of the connection are not set', async () => {
  const { call } = await createCustomer()
  const { secret_key: _, ...keyless } = LANGFUSE
  assertFault(await call('POST', '/usage/destinations', keyless), /as duas/)
  const { public_key: __, ...none } = keyless
  assertFault(await call('POST', '/usage/destinations', none), /obrigatórias/)
  assertFault(
    await call('POST', '/usage/destinations', { ...LANGFUSE, headers: { a: 'b' } }),
    /só para otlp/,
  )
  assertFault(
    await call('POST', '/usage/destinations', { ...OTLP, public_key: 'x', secret_key: 'y' }),
    /só para langfuse/,
  )
  for (const name of ['Host', 'content-length', 'Transfer-Encoding', 'connection', 'User-Agent'])
    assertFault(
      await call('POST', '/usage/destinations', { ...OTLP, headers: { [name]: 'x' } }),
      /não pode ser definido/,
    )
  assertFault(
    await call('POST', '/usage/destinations', { ...OTLP, headers: { a: 'x\r\nhost: y' } }),
    /headers/,
  )
  for (const name of ['x\r\nhost: y', 'x\0', 'x y', 'é', '', 'x'.repeat(101)])
    for (const value of ['v', { a: 1 }])
      assertFault(
        await call('POST', '/usage/destinations', { ...OTLP, headers: { [name]: value } }),
        /headers/,
      )
  assertFault(
    await call('POST', '/usage/destinations', { ...OTLP, headers: { 'X-A': '1', 'x-a': '2' } }),
    /repetido/,
  )
})

test('stored secrets never follow a destination to another server', async () => {
  const { call } = await createCustomer()
  const langfuse = await create(call, LANGFUSE)
  const otlp = await create(call, OTLP)
  for (const { id } of [langfuse, otlp])
    assertFault(
      await call('PATCH', `/usage/destinations/${id}`, { url: 'https://other.example.com' }),
      /de novo/,
    )
  const moved = await call('PATCH', `/usage/destinations/${otlp.id}`, {
    url: 'https://other.example.com/otlp',
    headers: { 'x-key': 'nova' },
  })
  assert.equal(moved.status, 200, moved.text)
  assert.deepEqual(moved.json.header_names, ['x-key'])
  const path = await call('PATCH', `/usage/destinations/${otlp.id}`, {
    url: 'https://other.example.com/mais',
  })
  assert.equal(path.status, 200, path.text)
})

test("every route answers 404 for another customer's destination, and changes nothing", async () => {
  const mine = await createCustomer()
  const stranger = await createCustomer()
  const { id } = await create(mine.call, OTLP)
  for (const each of [id, createId(), 'nenhum']) {
    const path = `/usage/destinations/${each}`
    for (const answer of [
      await stranger.call('GET', path),
      await stranger.call('PATCH', path, { is_enabled: false }),
      await stranger.call('POST', `${path}/test`),
      await stranger.call('DELETE', path),
    ])
      assert.deepEqual([answer.status, answer.json.error], [404, 'usage_destination_not_found'])
  }
  assert.equal((await mine.call('GET', `/usage/destinations/${id}`)).json.is_enabled, true)
  assert.deepEqual((await stranger.call('GET', '/usage/destinations')).json, { destinations: [] })
})

test('a destination that is switched off is not tested', async () => {
  const { call } = await createCustomer()
  const { id } = await create(call, OTLP)
  const asked = await call('POST', `/usage/destinations/${id}/test`)
  assert.equal(asked.status, 200, asked.text)
  assert.equal(asked.json.test.tested_at, null)
  const off = await call('PATCH', `/usage/destinations/${id}`, { is_enabled: false })
  assert.equal(off.json.disabled_reason, 'customer')
  const refused = await call('POST', `/usage/destinations/${id}/test`)
  assert.deepEqual([refused.status, refused.json.error], [409, 'usage_destination_disabled'])
})

test('a key of the scope account reads destinations, and sets none', async () => {
  const { customerId, call } = await createCustomer()
  const { id } = await create(call, OTLP)
  const { secret } = await createApiKey(db, {
    name: 'leitora',
    scope: 'account',
    requestsPerMinute: 1_000,
    customerId,
  })
  const read = await ask(baseUrl, `/usage/destinations/${id}`, { secret })
  assert.equal(read.status, 200, read.text)
  const path = `/usage/destinations/${id}`
  for (const answer of [
    await ask(baseUrl, '/usage/destinations', { secret, body: OTLP }),
    await ask(baseUrl, path, { secret, method: 'PATCH', body: { includes_content: true } }),
    await ask(baseUrl, `${path}/test`, { secret, method: 'POST' }),
    await ask(baseUrl, path, { secret, method: 'DELETE' }),
  ])
    assert.deepEqual([answer.status, answer.json.error], [403, 'key_scope_insufficient'])
})

test('deleting the account deletes its destinations', async () => {
  const { customerId, call } = await createCustomer()
  await create(call, OTLP)
  const secret = await openSession({ db, dataDir }, customerId)
  const { email } = await db
    .selectFrom('customers')
    .select('email')
    .where('id', '=', customerId)
    .executeTakeFirstOrThrow()
  const body = { confirm: email }
  const gone = await ask(baseUrl, '/me', { secret, method: 'DELETE', body })
  assert.ok(gone.status < 300, gone.text)
  const rows = await db
    .selectFrom('usage_destinations')
    .select('id')
    .where('customer_id', '=', customerId)
    .execute()
  assert.deepEqual(rows, [])
})
