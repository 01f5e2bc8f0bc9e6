/** What customers read of their calls that were answered with an error. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createApiKey } from '../../src/customers/api-keys.ts'
import { ask } from '../harness/ask.ts'
import { startGateway } from '../harness/gateway.ts'
import { seedRefusals, type SeededRefusals } from '../harness/seed-refusals.ts'
import { seedCustomer } from '../harness/test-database.ts'

const gateway = await startGateway()
after(() => gateway.stop())
const { baseUrl } = gateway.node
const { db } = gateway.database

const HOUR_MS = 3_600_000
const noon = (day: string, hours = 0): Date =>
  new Date(Date.parse(`${day}T15:00:00Z`) + hours * HOUR_MS)

async function newCustomer(timezone = 'America/Sao_Paulo') {
  const made = await seedCustomer(db, { balanceBrl: '1' })
  await db.updateTable('customers').set({ timezone }).where('id', '=', made.customerId).execute()
  const counted = (rows: readonly SeededRefusals[]) =>
    seedRefusals(db, { customerId: made.customerId, apiKeyId: made.key.id, rows })
  return { ...made, counted }
}

const read = async (secret: string, path: string): Promise<any> => {
  const { status, text, json } = await ask(baseUrl, path, { secret })
  assert.equal(status, 200, text)
  return json
}

test('the reasons of a period are summed, the most frequent first, with their first and last time', async () => {
  const { secret, counted } = await newCustomer()
  await counted([
    { at: noon('2026-03-02'), code: 'insufficient_balance', status: 402, refusals: 5 },
    {
      at: noon('2026-03-03'),
      code: 'insufficient_balance',
      status: 402,
      refusals: 6,
      modelId: 'm',
    },
    { at: noon('2026-03-03'), code: 'invalid_request', status: 400, refusals: 2 },
    { at: noon('2026-03-03'), code: 'invalid_request', status: 413, refusals: 9 },
    { at: noon('2026-03-09'), code: 'model_not_found', status: 404, refusals: 1 },
  ])
  const sums = await read(secret, '/usage/refusals?from=2026-03-01&to=2026-03-08')
  assert.deepEqual(
    sums.reasons.map((one: any) => [one.code, one.status, one.refusals, one.first_at, one.last_at]),
    [
      ['insufficient_balance', 402, 11, '2026-03-02T15:00:00.000Z', '2026-03-03T15:00:00.000Z'],
      ['invalid_request', 413, 9, '2026-03-03T15:00:00.000Z', '2026-03-03T15:00:00.000Z'],
      ['invalid_request', 400, 2, '2026-03-03T15:00:00.000Z', '2026-03-03T15:00:00.000Z'],
    ],
  )
  assert.equal(sums.refusals, 22)
  assert.equal(sums.step, 'day')
  assert.deepEqual(sums.parts, [
    { starts_at: '2026-03-02T03:00:00.000Z', refusals: 5 },
    { starts_at: '2026-03-03T03:00:00.000Z', refusals: 17 },
  ])
})

test('one or two days are summed by the hour, and days are those of the customer', async () => {
  const { secret, counted } = await newCustomer()
  // The last hour of 1 March, and the first of 2 March, in São Paulo.
  const midnight = Date.parse('2026-03-02T03:00:00Z')
  for (const [hours, refusals] of [
    [-1, 3],
    [0, 4],
    [23, 5],
    [24, 6],
  ] as const)
    await counted([
      { at: new Date(midnight + hours * HOUR_MS), code: 'key_paused', status: 403, refusals },
    ])
  const sums = await read(secret, '/usage/refusals?from=2026-03-02&to=2026-03-02')
  assert.equal(sums.step, 'hour')
  assert.deepEqual(sums.parts, [
    { starts_at: '2026-03-02T03:00:00.000Z', refusals: 4 },
    { starts_at: '2026-03-03T02:00:00.000Z', refusals: 5 },
  ])
  assert.equal((await read(secret, '/usage/refusals?from=2026-03-01&to=2026-03-02')).refusals, 12)
})

test('the hours are listed newest first, page by page, by model, key and code, and no row is shown twice', async () => {
  const { secret, key, counted, customerId } = await newCustomer()
  const { key: second } = await createApiKey(db, {
    customerId,
    name: 'segunda',
    requestsPerMinute: 9,
  })
  const refused = { code: 'key_day_cap_exceeded', status: 402, refusals: 1 }
  await counted(
    Array.from({ length: 7 }, (_, hours) => ({ ...refused, at: noon('2026-03-02', hours) })),
  )
  await counted([
    { ...refused, at: noon('2026-03-02'), modelId: 'm' },
    { ...refused, at: noon('2026-03-02'), modelId: 'n', apiKeyId: second.id },
    { ...refused, at: noon('2026-03-02'), code: 'upstream_error', status: 502 },
  ])
  const period = 'from=2026-03-02&to=2026-03-02'
  const seen: any[] = []
  let cursor = ''
  do {
    const path = `/usage/refusals/by-hour?${period}&limit=3${cursor && `&cursor=${cursor}`}`
    const page = await read(secret, path)
    seen.push(...page.refusals)
    cursor = page.next_cursor ?? ''
  } while (cursor !== '')
  assert.equal(seen.length, 10)
  assert.equal(new Set(seen.map((one) => JSON.stringify(one))).size, 10)
  const hours = seen.map((one) => Date.parse(one.hour_at))
  assert.deepEqual(
    hours,
    hours.toSorted((left, right) => right - left),
  )
  const of = async (query: string): Promise<any[]> =>
    (await read(secret, `/usage/refusals/by-hour?${period}&${query}`)).refusals
  assert.deepEqual(
    (await of('model_id=n')).map((one) => [one.api_key_id, one.api_key_name, one.refusals]),
    [[second.id, 'segunda', 1]],
  )
  assert.equal((await of(`api_key_id=${key.id}`)).length, 9)
  assert.equal((await of('code=upstream_error'))[0].status, 502)
  assert.equal((await read(secret, `/usage/refusals?${period}&model_id=m`)).refusals, 1)
})

test("nobody reads another customer's refusals, by a filter or by a cursor", async () => {
  const [owner, stranger] = [await newCustomer(), await newCustomer()]
  const refused = { code: 'key_paused', status: 403, refusals: 7 }
  await owner.counted([0, 1, 2].map((hours) => ({ ...refused, at: noon('2026-03-02', hours) })))
  await stranger.counted([{ ...refused, at: noon('2026-03-02'), refusals: 1 }])
  const period = 'from=2026-03-02&to=2026-03-02'
  const first = await read(owner.secret, `/usage/refusals/by-hour?${period}&limit=1`)
  const list = `/usage/refusals/by-hour?${period}`
  for (const query of [`&cursor=${first.next_cursor}`, ''])
    assert.deepEqual(
      (await read(stranger.secret, list + query)).refusals.map((one: any) => one.refusals),
      [1],
    )
  assert.deepEqual((await read(stranger.secret, `${list}&api_key_id=${owner.key.id}`)).refusals, [])
  assert.equal((await read(stranger.secret, `/usage/refusals?${period}`)).refusals, 1)
})
