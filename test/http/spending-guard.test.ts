/** The setting of the spending guard; what it pauses is in `test/alerts/pause-spending-keys.test.ts`. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createApiKey } from '../../src/customers/api-keys.ts'
import { pauseKeys } from '../../src/customers/pause-keys.ts'
import { ask, askChat, sound } from '../harness/ask.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import { openSession } from '../harness/open-session.ts'
import { seedCustomer } from '../harness/test-database.ts'
import { startLocalNode } from '../harness/local-node.ts'
import { openTransactionPooler } from '../harness/transaction-pooler.ts'

let gateway: TestGateway

before(async () => {
  gateway = await startGateway()
})
after(() => gateway.stop())

async function seedOwner() {
  const { db } = gateway.database
  const { customerId } = await seedCustomer(db, { balanceBrl: '10' })
  const session = await openSession({ db, dataDir: gateway.node.dataDir }, customerId)
  const make = (scope: 'calls' | 'manage') =>
    createApiKey(db, { customerId, name: `chave ${scope}`, scope, requestsPerMinute: 1_000 })
  const put = (secret: string, body: unknown) =>
    ask(gateway.node.baseUrl, '/me/spending-guard', { secret, method: 'PUT', body })
  const get = (secret: string) => ask(gateway.node.baseUrl, '/me/spending-guard', { secret })
  return { customerId, session, calls: await make('calls'), manage: await make('manage'), put, get }
}

test('the guard is on with a factor of 10 from BRL 200 an hour, and a login session changes it or turns it off', async () => {
  const { session, put, get } = await seedOwner()
  assert.deepEqual((await get(session)).json, { factor: 10, floor_brl: 200 })
  assert.deepEqual((await put(session, { factor: 3, floor_brl: 50 })).json, {
    factor: 3,
    floor_brl: 50,
  })
  assert.deepEqual((await put(session, { factor: null })).json, { factor: null, floor_brl: 50 })
  assert.deepEqual((await get(session)).json, { factor: null, floor_brl: 50 })
  for (const fault of [{ factor: 1 }, { factor: 2.5 }, { floor_brl: 0 }, { floor_brl: 1e9 }])
    assert.equal((await put(session, fault)).status, 400)
})

test('no key makes the guard laxer, whatever its scope', async () => {
  const { session, manage, calls, put, get } = await seedOwner()
  for (const laxer of [{ factor: null }, { factor: 11 }, { factor: 5, floor_brl: 201 }]) {
    const refused = await put(manage.secret, laxer)
    assert.deepEqual([refused.status, refused.json.error], [403, 'beyond_own_key'])
  }
  assert.equal((await put(calls.secret, { factor: null })).status, 403)
  assert.equal((await get(session)).json.factor, 10)
  assert.equal((await put(manage.secret, { factor: 5, floor_brl: 100 })).status, 200)
})

test('a key that was resumed is served at once, also by a node that gets no notifications', async () => {
  const { databaseUrl, db } = gateway.database
  // Through a pooler the caches of keys are read anew every three seconds.
  const pooler = await openTransactionPooler(databaseUrl, { sessions: 12 })
  const node = await startLocalNode({ databaseUrl: pooler.databaseUrl })
  const { customerId, calls } = await seedOwner()
  const session = await openSession({ db, dataDir: node.dataDir }, customerId)
  const act = (name: 'pause' | 'resume') =>
    ask(node.baseUrl, `/api-keys/${calls.key.id}/${name}`, { secret: session, method: 'POST' })
  const statuses: number[] = []
  for (let turn = 0; turn < 5; turn++) {
    assert.equal((await act('pause')).status, 200)
    statuses.push((await askChat(node.baseUrl, calls.secret, sound())).status)
    assert.equal((await act('resume')).status, 200)
    statuses.push((await askChat(node.baseUrl, calls.secret, sound())).status)
  }
  assert.deepEqual(statuses, Array.from({ length: 5 }, () => [403, 200]).flat())
  await node.stop()
  await node.remove()
  await pooler.close()
})

test('a key that the guard paused is refused with the reason, and the button of the dashboard resumes it', async () => {
  const { customerId, session, calls } = await seedOwner()
  await pauseKeys(gateway.database.db, { customerId, keyId: calls.key.id }, 'anomaly')
  const refused = await askChat(gateway.node.baseUrl, calls.secret, sound())
  assert.equal(refused.status, 403)
  assert.equal(refused.json.error.code, 'key_paused')
  assert.match(refused.json.error.message, /muito maior que o habitual.*retome a chave no painel/)
  const path = `/api-keys/${calls.key.id}/resume`
  const resumed = await ask(gateway.node.baseUrl, path, { secret: session, method: 'POST' })
  assert.equal(resumed.status, 200, resumed.text)
  assert.equal((await askChat(gateway.node.baseUrl, calls.secret, sound())).status, 200)
})
