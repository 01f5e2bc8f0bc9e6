/** The paying customer is notified of every created or revoked key, in the act's transaction: by mail and by webhook. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { createApiKey } from '../../src/customers/api-keys.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { runCli } from '../harness/run-cli.ts'
import { seedCustomer } from '../harness/test-database.ts'
import { ask, type Asked } from '../harness/ask.ts'
import { startGateway } from '../harness/gateway.ts'

const gateway = await startGateway()
after(() => gateway.stop())
const { db, databaseUrl } = gateway.database
const { baseUrl, dataDir } = gateway.node

type Call = (method: string, path: string, body?: unknown) => Promise<Asked>

async function addCustomer(): Promise<{ customerId: string; email: string; call: Call }> {
  const { customerId, secret } = await seedCustomer(db, { balanceBrl: '1' })
  const email = `dona.${createId()}@example.com`
  await db.updateTable('customers').set({ email }).where('id', '=', customerId).execute()
  return {
    customerId,
    email,
    call: (method, path, body) => ask(baseUrl, path, { method, secret, body }),
  }
}

async function make(call: Call, path = '/api-keys', name = 'produção'): Promise<any> {
  const { status, json, text } = await call('POST', path, { name, model_ids: ['sandbox-chat'] })
  assert.equal(status, 201, text)
  return json
}

/** As `type id`, and whatever is not as it must be. */
async function eventsOf(customerId: string): Promise<string[]> {
  const rows = await db
    .selectFrom('events')
    .select(['type', 'data'])
    .where('customer_id', '=', customerId)
    .where('type', 'like', 'key.%')
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  const keys = await db.selectFrom('api_keys').select(['id', 'name', 'last_four']).execute()
  const factsOf = new Map(keys.map((key) => [key.id, key]))
  for (const { data } of rows) assert.deepEqual(data, factsOf.get(String(data['id'])))
  return rows.map(({ type, data }) => `${type} ${String(data['id'])}`)
}

/** Invited and joined. */
async function join(owner: Call, teamId: string): Promise<{ customerId: string; call: Call }> {
  const member = await addCustomer()
  const invited = await owner('POST', `/me/teams/${teamId}/invitations`, {
    email: member.email,
    role: 'member',
  })
  assert.equal(invited.status, 201, invited.text)
  const joined = await member.call('POST', '/me/invitations/accept', { token: invited.json.token })
  assert.ok(joined.status < 300, joined.text)
  return member
}

test('a created key and a revoked key are each reported once', async () => {
  const { customerId, call } = await addCustomer()
  const [one, two] = [await make(call), await make(call)]
  assert.equal((await call('DELETE', `/api-keys/${one.id}`)).status, 200)
  assert.equal((await call('DELETE', `/api-keys/${one.id}`)).status, 200)
  assert.equal((await call('POST', '/api-keys', { name: 'x' })).status, 400)
  assert.equal((await call('PATCH', `/api-keys/${two.id}`, { name: 'outra' })).status, 200)
  await call('PATCH', `/api-keys/${two.id}`, { name: 'produção' })
  assert.deepEqual(await eventsOf(customerId), [
    `key.created ${one.id}`,
    `key.created ${two.id}`,
    `key.revoked ${one.id}`,
  ])
})

test('keys revoked together are each reported once, even with two concurrent revocations', async () => {
  const { customerId, call } = await addCustomer()
  const keys = [await make(call), await make(call), await make(call)]
  const ids = keys.slice(0, 2).map(({ id }) => id)
  await Promise.all([1, 2].map(() => call('POST', '/api-keys/bulk-revoke', { ids })))
  await call('POST', '/api-keys/bulk-revoke', { all: true })
  const revocations = (await eventsOf(customerId)).filter((event) =>
    event.startsWith('key.revoked'),
  )
  // All: the third, and the one that asks.
  assert.equal(revocations.length, 4)
  assert.equal(new Set(revocations).size, 4)
  for (const { id } of keys) assert.ok(revocations.includes(`key.revoked ${id}`))
})

test("the events of a team's keys go to its owner: created, revoked, and ended with a member or the team", async () => {
  const owner = await addCustomer()
  const { json: team } = await owner.call('POST', '/me/teams', { name: 'Dados' })
  const member = await join(owner.call, team.id)
  const path = `/me/teams/${team.id}/keys`
  const own = await make(owner.call, path)
  const members = [await make(member.call, path), await make(member.call, path)]
  await member.call('DELETE', `${path}/${members[0].id}`)
  const removed = await owner.call('DELETE', `/me/teams/${team.id}/members/${member.customerId}`)
  assert.equal(removed.status, 200, removed.text)
  assert.equal((await owner.call('DELETE', `/me/teams/${team.id}`)).status, 200)
  assert.deepEqual(await eventsOf(owner.customerId), [
    `key.created ${own.id}`,
    `key.created ${members[0].id}`,
    `key.created ${members[1].id}`,
    `key.revoked ${members[0].id}`,
    `key.revoked ${members[1].id}`,
    `key.revoked ${own.id}`,
  ])
  assert.deepEqual(await eventsOf(member.customerId), [])
})

test('acts on the command line are reported too', async () => {
  const { customerId } = await addCustomer()
  const env = { DATABASE_URL: databaseUrl, DATA_DIR: dataDir }
  const made = await runCli(['key', 'create', customerId, '--name', 'da operação', '--json'], env)
  const { id } = JSON.parse(made.stdout)
  await runCli(['key', 'revoke', id], env)
  assert.deepEqual(await eventsOf(customerId), [`key.created ${id}`, `key.revoked ${id}`])
})

test('an act that cannot be reported does not happen', async () => {
  const { customerId, call } = await addCustomer()
  const { key } = await createApiKey(db, { customerId, name: 'fica', requestsPerMinute: 1 })
  await sql`alter table events add constraint closed check (type not like 'key.%') not valid`.execute(
    db,
  )
  const answers = [
    await call('POST', '/api-keys', { name: 'não fica', model_ids: ['sandbox-chat'] }),
    await call('DELETE', `/api-keys/${key.id}`),
  ]
  const bulk = await call('POST', '/api-keys/bulk-revoke', { ids: [key.id] })
  await sql`alter table events drop constraint closed`.execute(db)
  for (const { status } of answers) assert.equal(status, 500)
  assert.deepEqual(bulk.json, { revoked: 0, alreadyInactive: 0, gatewayFailures: 1 })
  const { json } = await call('GET', '/api-keys?status=active')
  assert.deepEqual(json.api_keys.map(({ name }: { name: string }) => name).sort(), [
    'fica',
    'teste',
  ])
})

test('a new key is reported by mail and webhook, and many at once by one mail', async () => {
  const { customerId, call } = await addCustomer()
  const hook = await call('POST', '/webhooks', {
    url: 'https://hooks.example.com/x',
    event_types: ['key.created'],
  })
  const names = ['primeira', 'segunda', 'terceira']
  for (const name of names) await make(call, '/api-keys', name)
  for (const deadline = Date.now() + 30_000; ; await sleep(50)) {
    const { rows } = await sql`select 1 from events
      where customer_id = ${customerId} and dispatched_at is null`.execute(db)
    if (rows.length === 0) break
    assert.ok(Date.now() < deadline)
  }
  const attempts = await db
    .selectFrom('webhook_attempts')
    .select('body')
    .where('endpoint_id', '=', hook.json.id)
    .where('try_number', '=', 1)
    .execute()
  const delivered: string[] = attempts.map(({ body }) => JSON.parse(body).data.name)
  assert.deepEqual(delivered.toSorted(), names.toSorted())
  const mails = await db
    .selectFrom('mails')
    .select(['template', 'data'])
    .where('customer_id', '=', customerId)
    .execute()
  assert.deepEqual(
    mails.map(({ template }) => template),
    ['chave_criada'],
  )
  assert.equal(mails[0]?.data['others_count'], 2)
})
