/** Customers manage their own alerts only. `test/alerts` shows that alerts fire. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from 'kysely'
import { createId } from '../../src/platform/lib/ids.ts'
import { seedCustomer } from '../harness/test-database.ts'
import { ask, type Asked } from '../harness/ask.ts'
import { startGateway } from '../harness/gateway.ts'

const gateway = await startGateway()
after(() => gateway.stop())
const { db } = gateway.database

const SPEND = { name: 'Gasto do dia', kind: 'daily_spend', threshold: 10, channels: ['email'] }

type Call = (method: string, path: string, body?: unknown) => Promise<Asked>

async function createCustomer(): Promise<{ customerId: string; keyId: string; call: Call }> {
  const { customerId, key, secret } = await seedCustomer(db, { balanceBrl: '0' })
  return {
    customerId,
    keyId: key.id,
    call: (method, path, body) => ask(gateway.node.baseUrl, path, { method, secret, body }),
  }
}

function assertError(answer: Asked, status: number, error: string, details?: RegExp): void {
  assert.deepEqual([answer.status, answer.json.error], [status, error], answer.text)
  if (details) assert.match(answer.json.details, details)
}

test('an alert is created, read, listed, changed and deleted; each act is in the audit log', async () => {
  const { customerId, keyId, call } = await createCustomer()
  const body = { ...SPEND, name: '  Gasto do dia ', threshold: 12.34, api_key_id: keyId }
  const made = await call('POST', '/me/alerts', body)
  assert.equal(made.status, 201, made.text)
  const { id, created_at, updated_at, ...rest } = made.json
  assert.equal(created_at, updated_at)
  assert.deepEqual(rest, {
    name: 'Gasto do dia',
    kind: 'daily_spend',
    threshold: 12.34,
    api_key_id: keyId,
    team_id: null,
    channels: ['email'],
    is_enabled: true,
    state: 'ok',
    last_fired_at: null,
    last_value: null,
  })
  const other = await call('POST', '/me/alerts', { ...SPEND, is_enabled: false })
  assert.equal(other.json.is_enabled, false)
  assert.deepEqual((await call('GET', `/me/alerts/${id}`)).json, made.json)
  assert.deepEqual((await call('GET', '/me/alerts')).json, { alerts: [made.json, other.json] })
  const change = { threshold: 1_000_000, channels: ['webhook', 'email'], is_enabled: false }
  const changed = await call('PATCH', `/me/alerts/${id}`, change)
  assert.deepEqual(
    { ...changed.json, updated_at },
    { ...made.json, ...change },
    'what is not given stays',
  )
  assert.deepEqual((await call('PATCH', `/me/alerts/${id}`, {})).json, changed.json)
  const deleted = await call('DELETE', `/me/alerts/${id}`)
  assert.deepEqual([deleted.status, deleted.json], [200, changed.json])
  assertError(await call('GET', `/me/alerts/${id}`), 404, 'alert_not_found')
  assert.deepEqual((await call('GET', '/me/alerts')).json, { alerts: [other.json] })
  const acts = await db
    .selectFrom('audit_log')
    .select(['action', 'details', 'api_key_id'])
    .where('subject_id', '=', id)
    .where('customer_id', '=', customerId)
    .orderBy('created_at')
    .execute()
  assert.deepEqual(acts, [
    { action: 'alert.created', details: { kind: 'daily_spend' }, api_key_id: keyId },
    {
      action: 'alert.changed',
      details: { fields: ['threshold', 'channels', 'is_enabled'] },
      api_key_id: keyId,
    },
    { action: 'alert.deleted', details: null, api_key_id: keyId },
  ])
})

const BOUNDS = [
  ['balance_below', [0.01, 1_000_000], [0, -1, 0.001, 1_000_000.01, 10.005]],
  ['daily_spend', [0.01, 1_000_000], [0, 0.009, 1_000_001]],
  ['monthly_spend', [0.01, 1_000_000], [0, 1e-9, 1_000_001]],
  ['runway_days', [1, 365], [0, 0.5, 1.5, 366]],
  ['error_rate', [1, 100, 12.25], [0, 0.99, 100.01, 12.255]],
] as const
for (const [kind, good, bad] of BOUNDS) {
  test(`the threshold of ${kind} has its limits when it is created and when it is changed`, async () => {
    const { call } = await createCustomer()
    let path = ''
    for (const threshold of good) {
      const made = await call('POST', '/me/alerts', { ...SPEND, kind, threshold })
      assert.deepEqual([made.status, made.json.threshold], [201, threshold], made.text)
      path = `/me/alerts/${made.json.id}`
    }
    for (const threshold of [...bad, '10', null]) {
      const made = await call('POST', '/me/alerts', { ...SPEND, kind, threshold })
      assertError(made, 400, 'invalid_request', /^threshold: /)
      assertError(await call('PATCH', path, { threshold }), 400, 'invalid_request', /^threshold: /)
    }
    assert.equal((await call('GET', '/me/alerts')).json.alerts.length, good.length)
  })
}

test('invalid names, kinds and channels are refused, and kind and restriction never change', async () => {
  const { keyId, call } = await createCustomer()
  const bad: [object, RegExp][] = [
    [{ name: '' }, /^name: /],
    [{ name: ' ' }, /^name: /],
    [{ name: 'a'.repeat(81) }, /^name: /],
    [{ name: 'a\u0000' }, /^name: /],
    [{ name: 'a\nb' }, /^name: /],
    [{ kind: 'nada' }, /^kind: /],
    [{ channels: [] }, /^channels: /],
    [{ channels: ['sms'] }, /^channels/],
    [{ channels: ['email', 'email'] }, /^channels: /],
    [{ state: 'ok' }, /^state: /],
    [{ api_key_id: keyId, team_id: createId() }, /^team_id: /],
    [{ kind: 'balance_below', api_key_id: keyId }, /^api_key_id: /],
    [{ kind: 'runway_days', team_id: createId() }, /^team_id: /],
  ]
  for (const [more, details] of bad)
    assertError(
      await call('POST', '/me/alerts', { ...SPEND, ...more }),
      400,
      'invalid_request',
      details,
    )
  const long = await call('POST', '/me/alerts', {
    ...SPEND,
    name: 'ç'.repeat(80),
    api_key_id: null,
  })
  assert.equal(long.status, 201, long.text)
  const path = `/me/alerts/${long.json.id}`
  for (const more of [{ kind: 'monthly_spend' }, { api_key_id: keyId }, { team_id: null }])
    assertError(await call('PATCH', path, more), 400, 'invalid_request', /não é conhecido/)
  assert.deepEqual((await call('GET', '/me/alerts')).json, { alerts: [long.json] })
})

test("an unknown key, team or alert, or another customer's, is not found, and nothing changes", async () => {
  const [owner, stranger] = [await createCustomer(), await createCustomer()]
  const team = await owner.call('POST', '/me/teams', { name: 'Dados' })
  const gone = await owner.call('POST', '/me/teams', { name: 'Antiga' })
  await owner.call('DELETE', `/me/teams/${gone.json.id}`)
  const on = (more: object) => ({ ...SPEND, ...more })
  for (const api_key_id of [owner.keyId, createId(), 'nenhuma'])
    assertError(await stranger.call('POST', '/me/alerts', on({ api_key_id })), 404, 'key_not_found')
  for (const team_id of [team.json.id, createId(), 'nenhuma', ''])
    assertError(await stranger.call('POST', '/me/alerts', on({ team_id })), 404, 'team_not_found')
  assertError(
    await owner.call('POST', '/me/alerts', on({ team_id: gone.json.id })),
    404,
    'team_not_found',
  )
  // A member spends the owner's money, and gets no notifications of it.
  await sql`insert into team_members (team_id, customer_id, role)
    values (${team.json.id}, ${stranger.customerId}, 'admin')`.execute(db)
  assertError(
    await stranger.call('POST', '/me/alerts', on({ team_id: team.json.id })),
    404,
    'team_not_found',
  )
  const made = await owner.call('POST', '/me/alerts', on({ team_id: team.json.id }))
  assert.equal(made.json.team_id, team.json.id)
  const path = `/me/alerts/${made.json.id}`
  for (const strange of [path, `/me/alerts/${createId()}`, '/me/alerts/nenhum']) {
    assertError(await stranger.call('GET', strange), 404, 'alert_not_found')
    assertError(await stranger.call('PATCH', strange, { threshold: 1 }), 404, 'alert_not_found')
    assertError(await stranger.call('DELETE', strange), 404, 'alert_not_found')
  }
  assert.deepEqual((await owner.call('GET', path)).json, made.json)
  assert.deepEqual((await stranger.call('GET', '/me/alerts')).json, { alerts: [] })
})

test('an account has at most fifty alerts, even if they are created at once; a deleted one makes room', async () => {
  const { call } = await createCustomer()
  for (let n = 0; n < 45; n++) await call('POST', '/me/alerts', SPEND)
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => call('POST', '/me/alerts', SPEND)),
  )
  assert.equal(answers.filter(({ status }) => status === 201).length, 5)
  for (const answer of answers)
    if (answer.status !== 201) assertError(answer, 409, 'too_many_alerts')
  const { alerts } = (await call('GET', '/me/alerts')).json
  assert.equal(alerts.length, 50)
  await call('DELETE', `/me/alerts/${alerts[0].id}`)
  assert.equal((await call('POST', '/me/alerts', SPEND)).status, 201)
})
