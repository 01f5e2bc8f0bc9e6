// deep: two nodes, and revocations at once
/** Revoked and restricted keys: effective on every node, at once and permanently. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { createApiKey } from '../../src/customers/api-keys.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { seedCustomer } from '../harness/test-database.ts'
import { startLocalNode, type LocalNode } from '../harness/local-node.ts'
import { ask, askChat, sound, type Asked } from '../harness/ask.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'

/** The time within which the other nodes apply a change. */
const HEARD_MS_MAX = 1_000

let gateway: TestGateway
/** A second node on the same database, behind a proxy. */
let other: LocalNode

before(async () => {
  gateway = await startGateway()
  other = await startLocalNode({
    databaseUrl: gateway.database.databaseUrl,
    env: { TRUST_PROXY: '127.0.0.1' },
  })
})

after(async () => {
  await other.stop()
  await other.remove()
  await gateway.stop()
})

function call(
  method: string,
  path: string,
  body?: unknown,
  secret = gateway.secret,
): Promise<Asked> {
  return ask(gateway.node.baseUrl, path, { method, secret, body })
}

async function createKey(more: object = {}, secret = gateway.secret): Promise<any> {
  const input = { name: 'chave', model_ids: ['sandbox-chat', 'sandbox-embedding'], ...more }
  const answer = await call('POST', '/api-keys', input, secret)
  assert.equal(answer.status, 201, answer.text)
  return answer.json
}

/** A separate customer with this many more keys. */
async function seedKeys(count: number): Promise<{ secret: string; ownId: string; ids: string[] }> {
  const { db } = gateway.database
  const { customerId, secret, key } = await seedCustomer(db, { balanceBrl: '1' })
  const input = { customerId, name: 'muitas', requestsPerMinute: 10 }
  const ids: string[] = []
  for (let made = 0; made < count; made += 1) ids.push((await createApiKey(db, input)).key.id)
  return { secret, ownId: key.id, ids }
}

/** A separate customer with two keys that may create others; one of them was stolen. */
async function seedThief(): Promise<{
  secret: string
  ownId: string
  thief: { id: string; secret: string }
}> {
  const { db } = gateway.database
  const { customerId, secret, key } = await seedCustomer(db, { balanceBrl: '1' })
  const input = { customerId, name: 'ladrão', requestsPerMinute: 1_000, scope: 'manage' } as const
  const made = await createApiKey(db, input)
  return { secret, ownId: key.id, thief: { id: made.key.id, secret: made.secret } }
}

function bulkRevoke(body: unknown, secret: string): Promise<Asked> {
  return call('POST', '/api-keys/bulk-revoke', body, secret)
}

async function revocationsOf(keyId: string): Promise<number> {
  const rows = await gateway.database.db
    .selectFrom('audit_log')
    .select('id')
    .where('subject_id', '=', keyId)
    .where('action', '=', 'api_key.revoked')
    .execute()
  return rows.length
}

/** Repeats a request to the other node until the answer has this status, which takes a second at most. */
async function untilOther(statusWanted: number, asking: () => Promise<Asked>): Promise<Asked> {
  for (const deadline = Date.now() + HEARD_MS_MAX; ; await sleep(20)) {
    const answer = await asking()
    if (answer.status === statusWanted) return answer
    assert.ok(Date.now() < deadline, `${answer.status}: ${answer.text}`)
  }
}

const chatOn = (
  node: { baseUrl: string },
  secret: string,
  model = 'sandbox-chat',
  headers: Record<string, string> = {},
): Promise<Asked> => askChat(node.baseUrl, secret, sound(model), headers)

test('a revoked key is refused on another node within a second, and stays revoked', async () => {
  const made = await createKey()
  assert.equal((await chatOn(other, made.key)).status, 200)
  assert.equal((await ask(other.baseUrl, '/usage', { secret: made.key })).status, 200)
  const revoked = await call('DELETE', `/api-keys/${made.id}`)
  assert.equal(revoked.json.status, 'revoked')
  // Model calls are refused at once: no money is spent with the key.
  assert.equal((await chatOn(other, made.key)).status, 401)
  const refused = await untilOther(401, () => ask(other.baseUrl, '/usage', { secret: made.key }))
  assert.equal(refused.text, '')
  for (const baseUrl of [gateway.node.baseUrl, other.baseUrl]) {
    const body = { name: 'de volta', expires_at: null }
    const options = { method: 'PATCH', secret: gateway.secret, body }
    assert.equal((await ask(baseUrl, `/api-keys/${made.id}`, options)).json.error, 'key_revoked')
    assert.equal((await ask(baseUrl, '/usage', { secret: made.key })).status, 401)
    assert.equal((await chatOn({ baseUrl }, made.key)).status, 401)
  }
  const again = await call('DELETE', `/api-keys/${made.id}`)
  assert.deepEqual([again.status, again.json.revoked_at], [200, revoked.json.revoked_at])
})

test('a restriction of a key takes effect on another node within a second', async () => {
  const made = await createKey()
  const path = `/api-keys/${made.id}`
  assert.equal((await chatOn(other, made.key)).status, 200)
  await call('PATCH', path, { model_ids: ['sandbox-embedding'] })
  const denied = await untilOther(403, () => chatOn(other, made.key))
  assert.equal(denied.json.error.code, 'key_model_access_denied')
  await call('PATCH', path, { model_ids: ['sandbox-chat'] })
  await untilOther(200, () => chatOn(other, made.key))
  await call('PATCH', path, { ip_allowlist: ['203.0.113.0/24', '2001:db8::/32'] })
  const blocked = await untilOther(403, () => chatOn(other, made.key))
  assert.equal(blocked.json.error.code, 'ip_blocked_by_allowlist')
})

test('a key with an allowlist works only from its addresses, for model calls and REST', async () => {
  const made = await createKey({
    scope: 'account',
    ip_allowlist: ['203.0.113.0/24', '198.51.100.7', '2001:db8::/32'],
  })
  const statuses = async (ip: string): Promise<unknown[]> => {
    const headers = { 'x-forwarded-for': ip }
    const rest = await ask(other.baseUrl, '/api-keys', { secret: made.key, headers })
    const chat = await chatOn(other, made.key, 'sandbox-chat', headers)
    return [chat.status, rest.status, rest.json.error]
  }
  for (const ip of ['203.0.113.200', '198.51.100.7', '2001:db8:1::5', '::ffff:203.0.113.9'])
    assert.deepEqual(await statuses(ip), [200, 200, undefined], ip)
  for (const ip of ['203.0.114.1', '198.51.100.8', '2001:db9::1', '127.0.0.1'])
    assert.deepEqual(await statuses(ip), [403, 403, 'ip_blocked_by_allowlist'], ip)
})

test('20 concurrent revocations of one key count as one', async () => {
  const made = await createKey()
  const path = `/api-keys/${made.id}`
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      ask(index % 2 ? other.baseUrl : gateway.node.baseUrl, path, {
        method: 'DELETE',
        secret: gateway.secret,
      }),
    ),
  )
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
  assert.equal(new Set(answers.map(({ json }) => json.revoked_at)).size, 1)
  assert.equal(await revocationsOf(made.id), 1)
})

test('a bulk revocation counts each key once, and keys that were revoked before separately', async () => {
  const { secret, ids } = await seedKeys(100)
  const [first = '', second = ''] = ids
  const counts = { revoked: 0, alreadyInactive: 0, gatewayFailures: 0 }
  const one = await bulkRevoke({ ids: [first, first.toUpperCase(), first] }, secret)
  assert.deepEqual(one.json, { ...counts, revoked: 1 })
  assert.deepEqual((await bulkRevoke({ ids: [] }, secret)).json, counts)
  assert.deepEqual((await bulkRevoke({ ids }, secret)).json, {
    ...counts,
    revoked: 99,
    alreadyInactive: 1,
  })
  assert.deepEqual((await bulkRevoke({ ids }, secret)).json, { ...counts, alreadyInactive: 100 })
  assert.deepEqual([await revocationsOf(first), await revocationsOf(second)], [1, 1])
})

test('a bulk revocation counts no unknown id and no key of another customer, and revokes the others', async () => {
  const { secret, ids } = await seedKeys(1)
  const stranger = await seedKeys(1)
  const answer = await bulkRevoke({ ids: [createId(), ...stranger.ids, ...ids] }, secret)
  assert.equal(answer.status, 200)
  assert.deepEqual(answer.json, { revoked: 1, alreadyInactive: 0, gatewayFailures: 0 })
  const { json } = await call('GET', '/api-keys?status=active', undefined, stranger.secret)
  assert.equal(json.api_keys.length, 2)
})

test('a bulk revocation with a fault revokes nothing', async () => {
  const { secret, ids } = await seedKeys(2)
  const many = Array.from({ length: 99 }, () => ids[0])
  for (const body of [
    {},
    '',
    { all: true, ids },
    { all: false },
    { all: false, ids },
    { all: 'true' },
    { ids: null },
    { ids: ids[0] },
    { ids: [...many, ...ids] },
    { ids: [...ids, 'none'] },
    { ids: [...ids, `urn:uuid:${ids[0]}`] },
    { ids, more: 1 },
  ]) {
    const answer = await bulkRevoke(body, secret)
    assert.equal(answer.status, 400, JSON.stringify(body))
    assert.equal(answer.json.error, 'invalid_request')
  }
  const { json } = await call('GET', '/api-keys?status=active', undefined, secret)
  assert.equal(json.api_keys.length, 3)
})

test("all keys of a customer are revoked, even the caller's own, and no keys of other customers", async () => {
  const { secret, ownId, ids } = await seedKeys(3)
  await bulkRevoke({ ids: ids.slice(0, 1) }, secret)
  const answer = await bulkRevoke({ all: true }, secret)
  assert.deepEqual(answer.json, { revoked: 3, alreadyInactive: 0, gatewayFailures: 0 })
  assert.equal((await call('GET', '/api-keys', undefined, secret)).status, 401)
  assert.equal(await revocationsOf(ownId), 1)
  assert.equal((await call('GET', '/api-keys')).status, 200)
})

test('a revoked key creates no key on a node that has not been notified', async () => {
  const { secret, ownId, thief } = await seedThief()
  const make = (): Promise<Asked> =>
    call('POST', '/api-keys', { name: 'do ladrão', model_ids: ['sandbox-chat'] }, thief.secret)
  assert.equal((await make()).status, 201)
  // The nodes are not notified.
  await sql`update api_keys set revoked_at = now() where id = ${thief.id}`.execute(
    gateway.database.db,
  )
  assert.equal((await call('GET', '/usage', undefined, thief.secret)).status, 200)
  const refused = await make()
  assert.deepEqual([refused.status, refused.text], [401, ''])
  const { json } = await call('GET', '/api-keys', undefined, secret)
  assert.equal(json.api_keys.length, 3)
  assert.equal(json.api_keys.at(-1).id, ownId)
})

test('concurrent creations during a revocation of all keys leave no active key', async () => {
  const { secret, ownId, thief } = await seedThief()
  const making = Array.from({ length: 20 }, (_, index) =>
    ask(index % 2 ? other.baseUrl : gateway.node.baseUrl, '/api-keys', {
      secret: thief.secret,
      body: { name: 'do ladrão', model_ids: ['sandbox-chat'] },
    }),
  )
  const [{ status }, ...made] = await Promise.all([bulkRevoke({ all: true }, secret), ...making])
  assert.equal(status, 200)
  assert.deepEqual(
    made.map((answer) => answer.status).filter((status) => ![201, 401].includes(status)),
    [],
  )
  const { rows } = await sql`
    select id from api_keys where revoked_at is null
      and customer_id = (select customer_id from api_keys where id = ${ownId})`.execute(
    gateway.database.db,
  )
  assert.deepEqual(rows, [])
})

test('a key that the database fails to revoke is counted, and the others are revoked', async () => {
  const { db } = gateway.database
  const { secret, ids } = await seedKeys(3)
  const [first = '', stuck = '', last = ''] = ids
  await sql`
    create function refuse_one() returns trigger language plpgsql as
    ${sql.lit(`begin if new.id = '${stuck}' then raise exception 'stuck'; end if; return new; end`)}`.execute(
    db,
  )
  await sql`create trigger refuse_one before update on api_keys
    for each row execute function refuse_one()`.execute(db)
  const answer = await bulkRevoke({ ids }, secret)
  assert.deepEqual(answer.json, { revoked: 2, alreadyInactive: 0, gatewayFailures: 1 })
  const statusOf = async (id: string): Promise<string> =>
    (await call('GET', `/api-keys/${id}`, undefined, secret)).json.status
  assert.deepEqual(
    [await statusOf(first), await statusOf(stuck), await statusOf(last)],
    ['revoked', 'active', 'revoked'],
  )
  assert.equal(await revocationsOf(stuck), 0)
  assert.ok(gateway.node.log.some((line) => line.includes('key_revocation_failed')))
  await sql`drop trigger refuse_one on api_keys`.execute(db)
  assert.deepEqual((await bulkRevoke({ ids }, secret)).json, {
    revoked: 1,
    alreadyInactive: 2,
    gatewayFailures: 0,
  })
})

test('a key that was revoked changes no other key, even where the node does not know yet', async () => {
  const { thief } = await seedThief()
  const made = await createKey({ scope: 'calls' }, thief.secret)
  const path = `/api-keys/${made.id}`
  const rename = (name: string): Promise<Asked> => call('PATCH', path, { name }, thief.secret)
  assert.equal((await rename('antes')).status, 200)
  // Without the notification, as for a node that gets it late.
  await sql`update api_keys set revoked_at = now() where id = ${thief.id}`.execute(
    gateway.database.db,
  )
  const refused = await rename('depois')
  assert.deepEqual([refused.status, refused.text], [401, ''])
})
