/** Calls, the failed ones too, and what a period cost by model, key, team and session. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { OPERATOR } from '../../src/platform/audit-log/audited.ts'
import { createApiKey } from '../../src/customers/api-keys.ts'
import { insertTeam } from '../../src/customers/teams.ts'
import { deleteAccount } from '../../src/identity/personal-data/delete-account.ts'
import { ask, askChat, sound } from '../harness/ask.ts'
import { startGateway } from '../harness/gateway.ts'
import { seedUsage, type SeededUse } from '../harness/seed-usage.ts'
import { seedCustomer } from '../harness/test-database.ts'

const gateway = await startGateway()
after(() => gateway.stop())
const { baseUrl } = gateway.node
const { db } = gateway.database

async function newCustomer(events: readonly Partial<SeededUse>[] = []) {
  const made = await seedCustomer(db, { balanceBrl: '10000' })
  await db
    .updateTable('customers')
    .set({ timezone: 'America/Sao_Paulo' })
    .where('id', '=', made.customerId)
    .execute()
  await seedUsage(db, {
    customerId: made.customerId,
    apiKeyId: made.key.id,
    events: events.map((each) => ({
      at: new Date(),
      modelId: 'm',
      promptTokens: 3,
      completionTokens: 4,
      ...each,
    })),
  })
  return made
}

const read = async (secret: string, path: string): Promise<any> =>
  (await ask(baseUrl, path, { secret })).json

test('a failed call is listed with its reason in words for customers, and costs nothing', async () => {
  const { secret } = await newCustomer()
  await askChat(baseUrl, secret, sound('sandbox-chat'))
  await askChat(baseUrl, secret, sound('sandbox-error-500'))
  const { calls } = await read(secret, '/usage/calls')
  assert.deepEqual(
    calls.map((call: any) => [call.model_id, call.status, call.failure]),
    [
      ['sandbox-error-500', 'failed', 'model_failed'],
      ['sandbox-chat', 'charged', null],
    ],
  )
  assert.equal(calls[0].cost_billed_brl, 0)
  assert.ok(calls[1].duration_ms >= calls[1].first_byte_ms)
  const [charge] = (await read(secret, '/usage/events')).usage_events
  assert.equal(charge.id, calls[1].id, 'the list of charges has no failed ones')
})

test('what the cache saved is what its tokens would have cost more as plain input', async () => {
  const { secret } = await newCustomer()
  await askChat(baseUrl, secret, sound('sandbox-cached'))
  const [call] = (await read(secret, '/usage/calls')).calls
  assert.ok(call.cached_tokens > 0)
  const { prices } = await read(secret, '/model-prices')
  const [tier] = prices.find(({ model_id }: any) => model_id === 'sandbox-cached').tiers
  const saved = (call.cached_tokens * (tier.input_brl - tier.cached_input_brl)) / 1e6
  assert.ok(Math.abs(call.cache_saved_brl - saved) < 1e-8, `${call.cache_saved_brl} ${saved}`)
})

test('pages of failed calls of a model are complete, however rare they are', async () => {
  const hour = 3_600_000
  const failed = { outcome: 'released' } as const
  const at = (hours: number): Date => new Date(Date.now() - hours * hour)
  const { secret } = await newCustomer([
    ...[1, 30, 60, 400].map((hours) => ({ ...failed, at: at(hours) })),
    ...Array.from({ length: 50 }, (_, place) => ({ at: at(place) })),
    { ...failed, modelId: 'n', at: at(2) },
  ])
  const seen: string[] = []
  let cursor = ''
  do {
    const page = await read(
      secret,
      `/usage/calls?status=failed&model_id=m&limit=1${cursor && `&cursor=${cursor}`}`,
    )
    seen.push(...page.calls.map(({ id }: any) => id))
    cursor = page.next_cursor ?? ''
  } while (cursor !== '')
  assert.equal(new Set(seen).size, 4)
  assert.equal(seen.length, 4)
  const all = (await read(secret, '/usage/calls?limit=200')).calls
  assert.equal(all.length, 55)
})

test('only calls of the asked days, key and session are listed, the failed ones too', async () => {
  const noon = (day: string): Date => new Date(`${day}T15:00:00Z`)
  const failed = { outcome: 'released' } as const
  const { secret, key } = await newCustomer([
    { at: noon('2026-03-01') },
    { at: noon('2026-03-02'), sessionId: 'conversa' },
    { at: noon('2026-03-02'), ...failed },
    { at: noon('2026-03-03'), ...failed },
  ])
  const listed = async (query: string): Promise<string[]> =>
    (await read(secret, `/usage/calls?${query}`)).calls.map((call: any) =>
      [call.created_at.slice(0, 10), call.status].join(' '),
    )
  assert.deepEqual((await listed('from=2026-03-02&to=2026-03-02')).toSorted(), [
    '2026-03-02 charged',
    '2026-03-02 failed',
  ])
  assert.deepEqual(await listed('from=2026-03-03'), ['2026-03-03 failed'])
  assert.deepEqual(await listed('session_id=conversa'), ['2026-03-02 charged'])
  assert.equal((await listed(`api_key_id=${key.id}`)).length, 4)
  const other = await newCustomer()
  assert.deepEqual(await listed(`api_key_id=${other.key.id}`), [])
})

test('the spending of every grouping adds up to the charges of the period, part by part', async () => {
  const at = (text: string): Date => new Date(text)
  const { secret, key } = await newCustomer([
    // The last minute of 30 September in Sao Paulo: not of the period.
    { at: at('2026-10-01T02:59:00Z'), billed: 5n },
    { at: at('2026-10-01T03:00:00Z'), billed: 7n, sessionId: 's' },
    { at: at('2026-10-02T12:00:00Z'), billed: 11n, modelId: 'n', sessionId: 's' },
    { at: at('2026-10-02T13:00:00Z'), billed: 13n },
    { at: at('2026-10-02T13:30:00Z'), outcome: 'released' },
  ])
  const days = 'from=2026-10-01&to=2026-10-31'
  const expected = {
    model: [
      ['m', 20e-9],
      ['n', 11e-9],
    ],
    key: [[key.id, 31e-9]],
    team: [[null, 31e-9]],
    session: [
      ['s', 18e-9],
      [null, 13e-9],
    ],
  }
  for (const [by, groups] of Object.entries(expected)) {
    const spend = await read(secret, `/usage/spend?${days}&by=${by}`)
    assert.equal(spend.step, 'day')
    assert.equal(spend.cost_billed_brl, 31e-9, by)
    assert.equal(spend.requests, 3, by)
    assert.deepEqual(
      spend.groups.map(({ id, cost_billed_brl }: any) => [id, cost_billed_brl]),
      groups,
    )
    assert.deepEqual(
      spend.parts.map(({ starts_on, cost_billed_brl }: any) => [starts_on, cost_billed_brl]),
      [
        ['2026-10-01', 7e-9],
        ['2026-10-02', 24e-9],
      ],
      by,
    )
  }
})

test('longer periods are summed by week and month, cut at their ends, and three years are the most', async () => {
  const { secret } = await newCustomer([
    { at: new Date('2026-09-30T12:00:00Z'), billed: 1n },
    { at: new Date('2026-10-01T12:00:00Z'), billed: 2n },
    { at: new Date('2026-11-02T12:00:00Z'), billed: 3n },
  ])
  const weeks = await read(secret, '/usage/spend?from=2026-10-01&to=2026-11-20')
  assert.equal(weeks.step, 'week')
  assert.deepEqual(
    weeks.parts.map(({ starts_on, cost_billed_brl }: any) => [starts_on, cost_billed_brl]),
    [
      ['2026-10-01', 2e-9],
      ['2026-11-02', 3e-9],
    ],
  )
  const months = await read(secret, '/usage/spend?from=2026-01-15&to=2026-11-20')
  assert.equal(months.step, 'month')
  assert.equal(months.cost_billed_brl, 6e-9)
  const tooLong = await ask(baseUrl, '/usage/spend?from=2020-01-01&to=2026-11-20', { secret })
  assert.equal(tooLong.status, 400)
})

test('a key of a team, one for models only and one of a deleted customer read neither calls nor spending', async () => {
  const owner = await newCustomer([{ sessionId: 'segredo' }])
  const { customerId } = owner
  const team = await insertTeam(db, { ownerId: customerId, name: 'Time', limitNanoBrl: null })
  assert.equal(team.kind, 'created')
  const base = { customerId, name: 'chave', scope: 'calls', requestsPerMinute: 100 } as const
  const ofTeam = await createApiKey(db, { ...base, teamId: team.id })
  const forModels = await createApiKey(db, base)
  const gone = await newCustomer([{}])
  const deleted = await deleteAccount(db, OPERATOR, {
    customerId: gone.customerId,
    waiveBalance: true,
  })
  assert.equal(deleted.kind, 'deleted')
  for (const path of ['/usage/calls', '/usage/spend', '/usage/spend?by=session']) {
    for (const { secret } of [ofTeam, forModels])
      assert.equal((await ask(baseUrl, path, { secret })).status, 403, path)
    assert.equal((await ask(baseUrl, path, { secret: gone.secret })).status, 401, path)
    assert.equal((await ask(baseUrl, path, {})).status, 401, path)
  }
})

test("another customer's key, session, team and place in the list bring nothing", async () => {
  const owner = await newCustomer(
    Array.from({ length: 3 }, (_, place) => ({
      at: new Date(Date.now() - (place + 1) * 3_600_000),
      sessionId: 'segredo',
    })),
  )
  const stranger = await newCustomer([{ at: new Date(Date.now() - 9 * 3_600_000) }])
  const first = await read(owner.secret, '/usage/calls?limit=1')
  const asked = async (query: string): Promise<any> =>
    read(stranger.secret, `/usage/calls?${query}`)
  for (const query of [
    `api_key_id=${owner.key.id}`,
    'session_id=segredo',
    `session_id=segredo&api_key_id=${owner.key.id}&status=charged`,
    `api_key_id=${owner.key.id}&status=failed`,
  ])
    assert.deepEqual((await asked(query)).calls, [], query)
  const { calls } = await asked(`cursor=${first.next_cursor}`)
  assert.deepEqual(
    calls.map(({ api_key_id }: any) => api_key_id),
    [stranger.key.id],
    'a cursor is a place in time, of nobody',
  )
  for (const by of ['model', 'key', 'team', 'session']) {
    const spend = await read(stranger.secret, `/usage/spend?by=${by}`)
    assert.equal(spend.requests, 1, by)
    assert.ok(!JSON.stringify(spend).includes('segredo'))
  }
})
