/** The operators' view of money and machines: the margin of charges, and whether all parts work. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { PROGRAM_VERSION } from '../../src/app/program-version.ts'
import { createApiKey } from '../../src/customers/api-keys.ts'
import { storeFxRate } from '../../src/money/fx/fx-rates.ts'
import { FUNCTIONS_SCHEMA } from '../../src/platform/db/functions.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { createMargins } from '../../src/money/usage/margins.ts'
import { seedUsage } from '../harness/seed-usage.ts'
import { createTestDatabase, seedCustomer } from '../harness/test-database.ts'
import { startWithAdmins } from '../harness/admins.ts'
import { exactJson } from './exact-json.ts'
import { askChat, sound } from '../harness/ask.ts'
import { decimal, halfUp, localDay } from '../harness/known-use.ts'

const { gateway, ana } = await startWithAdmins()
after(() => gateway.stop())
const { db } = gateway.database
const { baseUrl } = gateway.node
const ZONE = 'America/Sao_Paulo'
const DAY_MS = 86_400_000
const dayOf = (daysAgo: number): string => localDay(ZONE, Date.now() - daysAgo * DAY_MS)

interface Charge {
  readonly modelId: string
  readonly upstreamId: string | null
  readonly fxRateE4: number
  readonly markupE4: number
  readonly day: string
  readonly cost: bigint
  readonly billed: bigint
}

async function listCharges(): Promise<Charge[]> {
  const rows = await db
    .selectFrom('usage_events')
    .selectAll()
    .where('outcome', '=', 'charged')
    .execute()
  return rows.map((row) => ({
    modelId: row.model_id,
    upstreamId: row.upstream_id,
    fxRateE4: row.fx_rate_e4,
    markupE4: row.markup_e4,
    day: localDay(ZONE, row.created_at.getTime()),
    cost: row.cost_upstream_pico_usd,
    billed: row.cost_billed_nano_brl,
  }))
}

/** The sums of the answer, computed again by plain loops. */
function sumsOf(charges: readonly Charge[]): object {
  let [usd, brlE16, billed] = [0n, 0n, 0n]
  for (const charge of charges) {
    usd += charge.cost
    brlE16 += charge.cost * BigInt(charge.fxRateE4)
    billed += charge.billed
  }
  const cost = halfUp(brlE16, 10_000_000n)
  return {
    requests: String(charges.length),
    cost_upstream_usd: decimal(usd, 12),
    cost_upstream_brl: decimal(cost, 9),
    billed_brl: decimal(billed, 9),
    margin_brl: decimal(billed - cost, 9),
  }
}

function withoutPercent(sums: object): object {
  return Object.fromEntries(Object.entries(sums).filter(([name]) => name !== 'margin_percent'))
}

function keyed(charges: readonly Charge[], key: string, of: (charge: Charge) => unknown): object[] {
  return [...Map.groupBy(charges, of)].map(([value, own]) => ({ [key]: value, ...sumsOf(own) }))
}

function sorted(entries: readonly object[], key: string): object[] {
  const text = (entry: object): string => String((entry as Record<string, unknown>)[key])
  return entries
    .map((one) => withoutPercent({ ...one }))
    .toSorted((left, right) => (text(left) < text(right) ? -1 : 1))
}

async function call(model: string): Promise<void> {
  const answer = await askChat(baseUrl, gateway.secret, sound(model))
  assert.equal(answer.status, 200, answer.text)
}

async function seedPast(): Promise<void> {
  const { key } = await createApiKey(db, {
    customerId: gateway.customerId,
    name: 'antes',
    requestsPerMinute: 60,
  })
  const use = { promptTokens: 1_234, completionTokens: 567 }
  await seedUsage(db, {
    customerId: gateway.customerId,
    apiKeyId: key.id,
    events: [
      // The last microsecond of a day of São Paulo, and the first one of the next.
      {
        at: `${dayOf(5)}T02:59:59.999999Z`,
        modelId: 'gpt-4o',
        costPicoUsd: 1_000_000_003n,
        ...use,
      },
      {
        at: `${dayOf(5)}T03:00:00.000000Z`,
        modelId: 'gpt-4o',
        costPicoUsd: 2_000_000_007n,
        ...use,
      },
      { at: `${dayOf(5)}T12:00:00.000000Z`, modelId: 'gpt-5-nano', ...use },
      { at: `${dayOf(4)}T12:00:00.000000Z`, modelId: 'gpt-4o', outcome: 'released', ...use },
    ],
  })
}

test('margins are the sums of the charges, each at its own rate and markup, by day, model and upstream', async () => {
  await seedPast()
  await call('sandbox-chat')
  const markup = { markup_multiplier: 1.1, reason: 'revisão' }
  assert.equal((await ana.call('/admin/models/sandbox-chat/markup', markup)).status, 201)
  await call('sandbox-chat')
  await storeFxRate(db, {
    rateE4: 61_237n,
    rateDate: dayOf(0),
    bulletinAt: null,
    source: 'sandbox',
  })
  const hasNewRate = async (): Promise<boolean> =>
    (await listCharges()).some(({ fxRateE4 }) => fxRateE4 === 61_237)
  for (const deadline = Date.now() + 30_000; !(await hasNewRate()); await sleep(20)) {
    assert.ok(Date.now() < deadline, 'no call was charged at the new rate')
    await call('sandbox-chat')
  }
  const charges = await listCharges()
  const kinds = new Set(charges.map(({ fxRateE4, markupE4 }) => `${fxRateE4} ${markupE4}`))
  assert.equal(kinds.size, 4, [...kinds].join())

  for (const _ of ['added up', 'remembered']) {
    const answer = await ana.call(`/admin/margins?from=${dayOf(6)}&to=${dayOf(0)}`)
    assert.equal(answer.status, 200, answer.text)
    const margins = exactJson(answer.text)
    assert.deepEqual(withoutPercent(margins.totals), sumsOf(charges))
    assert.deepEqual(
      sorted(margins.by_model, 'model_id'),
      sorted(
        keyed(charges, 'model_id', (one) => one.modelId),
        'model_id',
      ),
    )
    assert.deepEqual(
      sorted(margins.by_upstream, 'upstream'),
      sorted(
        keyed(charges, 'upstream', (one) => one.upstreamId),
        'upstream',
      ),
    )
    const days = margins.by_day.filter(({ requests }: { requests: string }) => requests !== '0')
    assert.deepEqual(
      sorted(days, 'day'),
      sorted(
        keyed(charges, 'day', (one) => one.day),
        'day',
      ),
    )
    assert.equal(margins.by_day.length, 7)
    assert.equal(answer.json.totals.margin_percent > 0, true)
    // The seed's markup of 2.
    const doubled = answer.json.by_model.find(({ model_id }: any) => model_id === 'gpt-5-nano')
    assert.equal(doubled.margin_percent, 50)
    const unused = answer.json.by_day.find(({ day }: any) => day === dayOf(4))
    assert.deepEqual([unused.requests, unused.billed_brl, unused.margin_percent], [0, 0, null])
  }
})

test('a window consists of days of São Paulo, 30 by default and 92 at most', async () => {
  const usual = (await ana.call('/admin/margins')).json
  assert.deepEqual([usual.from, usual.to, usual.timezone], [dayOf(29), dayOf(0), ZONE])
  assert.equal(usual.by_day.length, 30)
  const late = (await ana.call(`/admin/margins?from=${dayOf(5)}&to=${dayOf(5)}`)).json
  assert.deepEqual([late.by_day.length, late.totals.requests], [1, 2], 'from midnight to midnight')
  assert.equal((await ana.call('/admin/margins?from=2026-01-01&to=2026-04-02')).status, 200)
  for (const query of ['from=2026-01-01&to=2026-04-03', 'from=2026-02-02&to=2026-02-01']) {
    const refused = await ana.call(`/admin/margins?${query}`)
    assert.deepEqual([refused.status, refused.json.error], [400, 'invalid_request'], query)
    assert.match(refused.json.details, /^from: /)
  }
  assert.equal((await ana.call('/admin/margins?from=2026-02-30')).status, 400)
})

test('a day is summed again until its last call is settled, and late settlements are included', async () => {
  const own = await createTestDatabase()
  try {
    const { customerId, apiKeyId } = await seedHolder(own.db)
    const at = new Date(Date.now() - 3 * DAY_MS)
    const day = localDay(ZONE, at.getTime())
    const margins = createMargins(own.db)
    const requests = async (): Promise<number> =>
      (await margins.read(day, day)).reduce((sum, row) => sum + row.requests, 0)
    const use = { at, modelId: 'gpt-4o', promptTokens: 10, completionTokens: 10 }
    const settle = () => seedUsage(own.db, { customerId, apiKeyId, events: [use] })

    await settle()
    const open = await openHold(own.db, { customerId, apiKeyId, at })
    assert.equal(await requests(), 1)
    await settle()
    assert.equal(await requests(), 2, 'a call of that day was still open')
    await own.db.deleteFrom('holds').where('id', '=', open).execute()
    await margins.prepare()
    assert.deepEqual(await Promise.all([requests(), requests()]), [2, 2])
    await own.db.deleteFrom('usage_events').execute()
    assert.equal(await requests(), 2, 'a day that is finished is not read again')
  } finally {
    await own.drop()
  }
})

async function seedHolder(own: typeof db): Promise<{ customerId: string; apiKeyId: string }> {
  const { customerId } = await seedCustomer(own, { balanceBrl: '100' })
  const { key } = await createApiKey(own, { customerId, name: 'dia', requestsPerMinute: 60 })
  return { customerId, apiKeyId: key.id }
}

async function openHold(
  own: typeof db,
  { customerId, apiKeyId, at }: { customerId: string; apiKeyId: string; at: Date },
): Promise<string> {
  const { price_id, fx_rate_id } = await own
    .selectFrom('usage_events')
    .select(['price_id', 'fx_rate_id'])
    .executeTakeFirstOrThrow()
  const id = createId()
  await own
    .insertInto('holds')
    .values({
      id,
      customer_id: customerId,
      api_key_id: apiKeyId,
      team_id: null,
      node_id: createId(),
      request_id: createId(),
      session_id: null,
      model_id: 'gpt-4o',
      is_stream: false,
      amount_nano_brl: 1n,
      budget_pico_usd: 0n,
      price_id,
      fx_rate_id,
      fx_rate_e4: 50_000,
      markup_e4: 20_000,
      prompt_tokens_estimated: 1,
      tokens_counted: null,
      tokens_window_at: null,
      created_at: at,
      dispatched_at: null,
      output_began_at: null,
      output_tokens_seen: 0,
    })
    .execute()
  return id
}

test('the health shows the nodes, the queues, the scheduled jobs, the database, the rate and the reconciliation', async () => {
  await db
    .insertInto('events')
    .values({
      id: createId(),
      customer_id: gateway.customerId,
      type: 'topup.paid',
      data: '{}',
      created_at: new Date(Date.now() - DAY_MS),
      // Far in the future, so that no worker takes it meanwhile.
      due_at: new Date(Date.now() + DAY_MS),
    })
    .execute()
  const gone = createId()
  const long = new Date(Date.now() - 60_000)
  await db
    .insertInto('nodes')
    .values({
      id: gone,
      started_at: long,
      seen_at: long,
      stopped_at: null,
      functions_schema: FUNCTIONS_SCHEMA,
    })
    .execute()
  const answer = await ana.call('/admin/health')
  assert.equal(answer.status, 200, answer.text)
  const health = answer.json
  const own = health.nodes.find(({ is_this }: any) => is_this)
  assert.deepEqual([own.is_alive, own.stopped_at, own.id], [true, null, health.this_node.id])
  assert.ok(Date.now() - Date.parse(own.last_heartbeat_at) < 20_000)
  assert.equal(own.version, PROGRAM_VERSION)
  const silent = health.nodes.find(({ id }: any) => id === gone)
  assert.equal(silent.is_alive, false, 'silent for a minute')
  assert.deepEqual([silent.version, silent.build], [null, null], 'it named none')
  const events = health.queues.find(({ name }: any) => name === 'events')
  assert.deepEqual([events.waiting, events.due, events.oldest_due_at], [1, 0, null])
  assert.ok(health.jobs.some(({ name }: any) => name === 'roll-usage-days'))
  assert.ok(health.this_node.timers.some(({ name }: any) => name === 'sweep_top_ups'))
  const { routes } = health.this_node
  const route = routes.find(({ model_id }: any) => model_id === 'sandbox-chat')
  assert.deepEqual([route.upstream, route.breaker, route.running], ['sandbox', 'closed', 0])
  assert.ok(health.database.size_bytes > 1_000_000)
  assert.ok(health.database.connections > 0)
  assert.ok(health.database.connections < health.database.connections_max)
  assert.deepEqual([health.fx_rate.rate, health.fx_rate.source], [6.1237, 'sandbox'])
  assert.equal(health.reconciliation.open_differences, 0)
  assert.deepEqual(health.holds, { open: 0, oldest_at: null })
})
