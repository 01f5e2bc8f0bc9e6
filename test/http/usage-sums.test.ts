// deep: every sum in several zones
/**
 * `/me/usage-summary`, `/usage/by-key`, `/usage/by-day`, `/me/runway` and `/me/dashboard-stats` against sums that the tests make
 * themselves, digit by digit, in several zones, whether days are rolled up or not.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { createApiKey, revokeApiKey } from '../../src/customers/api-keys.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { avoidMinuteEnd } from '../harness/avoid-minute-end.ts'
import { seedTeam } from '../harness/seed-team.ts'
import { seedPaidTopUp } from '../harness/seed-paid-top-up.ts'
import { seedTopUp } from '../harness/seed-top-up.ts'
import { seedUsage } from '../harness/seed-usage.ts'
import { seedCustomer } from '../harness/test-database.ts'
import { exactJson } from './exact-json.ts'
import { ask, askChat, sound } from '../harness/ask.ts'
import { assertAudit } from '../harness/assert-audit.ts'
import { startGateway, type TestGateway } from '../harness/gateway.ts'
import {
  billedOf,
  decimal,
  exactTimeOf,
  firstMidnight,
  grouped,
  halfUp,
  localDay,
  microsOf,
  sumsOf,
  type KnownUse,
} from '../harness/known-use.ts'

let gateway: TestGateway

before(async () => {
  gateway = await startGateway()
})
after(() => gateway.stop())

interface Owner {
  readonly secret: string
  readonly customerId: string
  readonly apiKeyId: string
}

async function createOwner(balanceBrl: string, timezone?: string): Promise<Owner> {
  const { customerId, key, secret } = await seedCustomer(gateway.database.db, { balanceBrl })
  if (timezone !== undefined)
    await gateway.database.db
      .updateTable('customers')
      .set({ timezone })
      .where('id', '=', customerId)
      .execute()
  return { customerId, secret, apiKeyId: key.id }
}

async function addKey({ customerId }: Owner, name: string, expiresAt?: Date): Promise<string> {
  const input = { customerId, name, requestsPerMinute: 120, expiresAt }
  return (await createApiKey(gateway.database.db, input)).key.id
}

/** The answer with its numbers as text. */
async function get({ secret }: Owner, path: string): Promise<any> {
  const answer = await ask(gateway.node.baseUrl, path, { secret })
  assert.equal(answer.status, 200, answer.text)
  return exactJson(answer.text)
}

async function settle({ customerId, apiKeyId }: Owner, events: readonly KnownUse[]): Promise<void> {
  const seeded = await seedUsage(gateway.database.db, { customerId, apiKeyId, events })
  for (const [place, { billed }] of seeded.entries()) {
    const use = events[place] as KnownUse
    assert.equal(billed, use.outcome === 'released' ? 0n : billedOf(use.costPicoUsd))
  }
}

/** As the catalog shows them; one has left it. */
const NAMES: Record<string, string> = {
  'gpt-4o': 'GPT-4o',
  'claude-haiku-4-5': 'Claude Haiku 4.5',
  'whisper-1': 'Whisper',
  'gpt-5-nano': 'GPT-5 nano',
}
const MODELS = [...Object.keys(NAMES), 'gone/from-the-catalog']
const WINDOWS = [1, 2, 7, 30, 90, 365]

/** Around the beginning of each window to the microsecond, in cut hours, and all over the year. */
function usesOf(timezone: string, keyIds: readonly string[]): KnownUse[] {
  const now = BigInt(Date.now()) * 1_000n
  const edges = WINDOWS.flatMap((days) => {
    const start = firstMidnight(timezone, days)
    return [start - 1n, start, start + 1n, start + 25n * 60_000_000n]
  })
  const spread = Array.from({ length: 60 }, (_, place) => now - BigInt(place ** 3) * 140_000_000n)
  return [...edges, ...spread]
    .filter((micros) => micros <= now)
    .map((micros, place) => ({
      at: exactTimeOf(micros),
      modelId: MODELS[(place * 7) % MODELS.length] as string,
      apiKeyId: keyIds[place % keyIds.length] as string,
      promptTokens: 10 + place * 13,
      completionTokens: place * 3,
      costPicoUsd: 1_234_567_891n * BigInt(1 + ((place * 37) % 101)) + BigInt(place),
      outcome: place % 9 === 4 ? 'released' : 'charged',
    }))
}

async function assertSums(owner: Owner, timezone: string, uses: KnownUse[]): Promise<void> {
  for (const days of WINDOWS) {
    await avoidMinuteEnd()
    const start = firstMidnight(timezone, days)
    const within = uses.filter(({ at }) => microsOf(at) >= start)
    assert.ok(within.length > 0 && (days > 90 || within.length < uses.length))
    await assertSummary(owner, days, uses, within)
    await assertByKey(owner, days, within)
    if (days > 90) continue
    await assertByDay(owner, timezone, days, within)
    await assertRunway(owner, days, uses, within)
  }
}

async function assertSummary(owner: Owner, days: number, all: KnownUse[], within: KnownUse[]) {
  const total = sumsOf(within)
  const models = grouped(
    within.filter(({ outcome }) => outcome !== 'released'),
    ({ modelId }) => modelId,
  )
  const answer = await get(owner, `/me/usage-summary?days=${days}`)
  const spent = sumsOf(all).billed
  assert.deepEqual(answer, {
    period_days: String(days),
    balance_brl: decimal(TOPPED_UP - spent, 9),
    total_topped_up_brl: decimal(TOPPED_UP, 9),
    total_other_credits_brl: '0',
    total_spent_brl: decimal(spent, 9),
    total_refunded_brl: '0',
    total_other_debits_brl: '0',
    period_totals: {
      requests: String(total.requests),
      cost_billed_brl: decimal(total.billed, 9),
      cost_upstream_usd: decimal(total.cost, 12),
      prompt_tokens: String(total.prompt),
      completion_tokens: String(total.completion),
    },
    top_models: models.slice(0, 3).map(([modelId, sums]) => ({
      model_id: modelId,
      model_name: NAMES[modelId] ?? modelId,
      requests: String(sums.requests),
      cost_billed_brl: decimal(sums.billed, 9),
    })),
    unique_models_used: String(models.length),
  })
}

function without(entry: object, names: readonly string[]): object {
  return Object.fromEntries(Object.entries(entry).filter(([name]) => !names.includes(name)))
}

async function assertByKey(owner: Owner, days: number, within: KnownUse[]): Promise<void> {
  const total = sumsOf(within).billed
  const answer = await get(owner, `/usage/by-key?days=${days}`)
  assert.equal(answer.days, String(days))
  const expected = grouped(within, ({ apiKeyId }) => apiKeyId).map(([id, sums]) => {
    const ofKey = within.filter((use) => use.apiKeyId === id && use.outcome !== 'released')
    return {
      api_key_id: id,
      requests: String(sums.requests),
      failed_requests: String(sums.failed),
      prompt_tokens: String(sums.prompt),
      completion_tokens: String(sums.completion),
      cost_billed_brl: decimal(sums.billed, 9),
      cost_upstream_usd: decimal(sums.cost, 12),
      top_models: grouped(ofKey, ({ modelId }) => modelId)
        .slice(0, 3)
        .map(([modelId, { requests, billed }]) => ({
          model_id: modelId,
          requests: String(requests),
          cost_billed_brl: decimal(billed, 9),
        })),
      share_percent: decimal(total === 0n ? 0n : halfUp(sums.billed * 10_000n, total), 2),
    }
  })
  const used = answer.keys.filter((key: any) => key.requests !== '0' || key.failed_requests !== '0')
  assert.deepEqual(
    used.map((key: any) => without(key, ['name', 'last_four', 'status', 'team_id'])),
    expected,
  )
}

async function assertByDay(owner: Owner, timezone: string, days: number, within: KnownUse[]) {
  const answer = await get(owner, `/usage/by-day?days=${days}`)
  const dayOf = ({ at }: KnownUse) => localDay(timezone, Number(microsOf(at) / 1_000n))
  const ofDay = Map.groupBy(within, dayOf)
  const expected = Array.from({ length: days }, (_, place) => {
    const noon = Number(firstMidnight(timezone, days - place) / 1_000n) + 43_200_000
    const day = localDay(timezone, noon)
    const sums = sumsOf(ofDay.get(day) ?? [])
    return {
      day,
      requests: String(sums.requests),
      failed_requests: String(sums.failed),
      prompt_tokens: String(sums.prompt),
      completion_tokens: String(sums.completion),
      cost_billed_brl: decimal(sums.billed, 9),
    }
  })
  // How long calls took is told below, of calls that were made.
  assert.deepEqual([answer.days, answer.by_day], [String(days), expected])
}

async function assertRunway(owner: Owner, days: number, all: KnownUse[], within: KnownUse[]) {
  const spent = sumsOf(within).billed
  const balance = TOPPED_UP - sumsOf(all).billed
  const runwayDays = (balance * BigInt(days)) / spent
  assert.deepEqual(await get(owner, `/me/runway?days=${days}`), {
    balance_brl: decimal(balance, 9),
    period_days: String(days),
    daily_avg_brl: decimal(halfUp(spent, BigInt(days)), 9),
    runway_days: String(runwayDays),
    critical: runwayDays < 7n,
  })
}

const TOPPED_UP = 5_000_000_000_000n

for (const timezone of ['America/Sao_Paulo', 'Asia/Kolkata', 'UTC']) {
  test(`sums are those of the events since midnight in ${timezone}, rolled up or not, late ones too`, async () => {
    const owner = await createOwner('5000', timezone)
    const keyIds = [owner.apiKeyId, await addKey(owner, 'segunda'), await addKey(owner, 'terceira')]
    const uses = usesOf(timezone, keyIds)
    await settle(owner, uses)
    await assertSums(owner, timezone, uses)
    // A month at a time.
    for (let month = 0; month < 14; month += 1) {
      await sql`select roll_usage_days(${owner.customerId})`.execute(gateway.database.db)
      if (month === 1) await assertSums(owner, timezone, uses)
    }
    await assertSums(owner, timezone, uses)

    const late = WINDOWS.map((days): KnownUse => ({
      at: exactTimeOf(firstMidnight(timezone, days)),
      modelId: 'settled-late',
      apiKeyId: keyIds[1] as string,
      promptTokens: 5,
      completionTokens: 6,
      costPicoUsd: 987_654_321_987n,
    }))
    await settle(owner, late)
    await assertSums(owner, timezone, [...uses, ...late])
    await assertAudit(gateway.database)
  })
}

test('unused keys are listed, revoked ones only with usage, by descending cost', async () => {
  const owner = await createOwner('100')
  const [idle, revokedUsed, revokedIdle, expired, failed] = (await Promise.all(
    ['sem uso', 'revogada usada', 'revogada sem uso', 'expirada', 'só falhou'].map((name, place) =>
      addKey(owner, name, place === 3 ? new Date(Date.now() - 1_000) : undefined),
    ),
  )) as [string, string, string, string, string]
  const use = { at: new Date(), modelId: 'gpt-4o', promptTokens: 1, completionTokens: 1 }
  await settle(owner, [
    { ...use, apiKeyId: owner.apiKeyId, costPicoUsd: 1_000_000_000n },
    { ...use, apiKeyId: revokedUsed, costPicoUsd: 2_000_000_000n },
    { ...use, apiKeyId: failed, costPicoUsd: 1n, outcome: 'released' },
  ])
  for (const id of [revokedUsed, revokedIdle]) await revokeApiKey(gateway.database.db, id)
  const { keys } = await get(owner, '/usage/by-key')
  const shown = keys.map((key: any) => [
    key.api_key_id,
    key.status,
    key.requests,
    key.share_percent,
  ])
  assert.deepEqual(shown.slice(0, 2), [
    [revokedUsed, 'revoked', '1', '66.67'],
    [owner.apiKeyId, 'active', '1', '33.33'],
  ])
  assert.deepEqual(
    new Set(shown.slice(2)),
    new Set([
      [idle, 'active', '0', '0'],
      [expired, 'expired', '0', '0'],
      [failed, 'active', '0', '0'],
    ]),
  )
  assert.equal(keys.find((key: any) => key.api_key_id === failed).failed_requests, '1')
  assert.deepEqual(keys.find((key: any) => key.api_key_id === failed).top_models, [])
})

test("a team's key is among the keys of the owner, with its team", async () => {
  const { db } = gateway.database
  const owner = await createOwner('100')
  const teamId = await seedTeam(db, owner.customerId)
  const input = { customerId: owner.customerId, name: 'da equipe', requestsPerMinute: 1, teamId }
  const { key } = await createApiKey(db, input)
  const { keys } = await get(owner, '/usage/by-key')
  const found = keys.map((each: any) => [each.api_key_id, each.team_id])
  assert.deepEqual(
    new Set(found),
    new Set([
      [owner.apiKeyId, null],
      [key.id, teamId],
    ]),
  )
})

/** Spent today, of a balance that was topped up. */
async function runwayOf(toppedUpBrl: string, spentNanoBrl: bigint, days: number): Promise<any> {
  const owner = await createOwner(toppedUpBrl)
  if (spentNanoBrl > 0n)
    await settle(owner, [
      {
        at: new Date(),
        modelId: 'gpt-4o',
        apiKeyId: owner.apiKeyId,
        promptTokens: 1,
        completionTokens: 1,
        costPicoUsd: spentNanoBrl * 100n,
      },
    ])
  const { daily_avg_brl, runway_days, critical } = await get(owner, `/me/runway?days=${days}`)
  return [daily_avg_brl, runway_days, critical]
}

test('the runway is in whole days: none with almost no spending, 0 without balance', async () => {
  assert.deepEqual(await runwayOf('10', 0n, 30), ['0', null, false], 'nothing is spent')
  assert.deepEqual(await runwayOf('10', 299_999_970n, 30), ['0.009999999', null, false])
  assert.deepEqual(await runwayOf('10', 300_000_000n, 30), ['0.01', '970', false])
  assert.deepEqual(await runwayOf('8', 1_000_000_000n, 1), ['1', '7', false])
  assert.deepEqual(await runwayOf('7.999999999', 1_000_000_000n, 1), ['1', '6', true])
  assert.deepEqual(await runwayOf('40', 20_000_000_000n, 3), ['6.666666667', '3', true])
  assert.deepEqual(await runwayOf('10', 10_000_000_000n, 30), ['0.333333333', '0', true])
  assert.deepEqual(await runwayOf('10', 12_000_000_000n, 30), ['0.4', '0', true], 'a debt')
  assert.deepEqual(await runwayOf('0', 0n, 90), ['0', null, false], 'an empty account')
})

test("the dashboard counts the customer's rows", async () => {
  const { db } = gateway.database
  const owner = await createOwner('100.000000001')
  const { customerId } = owner
  const fresh = await get(owner, '/me/dashboard-stats')
  assert.deepEqual(fresh, {
    profile: null,
    balance_brl: '100.000000001',
    keys: { active: '1', revoked: '0' },
    topups: { paid: '0', total: '0' },
    notifications: { failed: '0', total: '0' },
  })
  await addKey(owner, 'expirada', new Date(Date.now() - 1_000))
  await revokeApiKey(db, await addKey(owner, 'revogada'))
  await addKey(owner, 'outra')
  await db
    .insertInto('profiles')
    .values({
      customer_id: customerId,
      full_name: 'Ana Souza',
      tax_id: '52998224725',
      city: 'Recife',
    })
    .execute()
  await db
    .insertInto('notifications')
    .values(
      ['sent', 'failed', 'sent'].map((status) => ({
        id: createId(),
        customer_id: customerId,
        template: 'balance_low',
        status: status as 'sent' | 'failed',
        error: status === 'failed' ? 'no such mailbox' : null,
      })),
    )
    .execute()
  await seedPaidTopUp(db, { customerId, cents: 2_000 })
  await seedTopUp(db, { customerId, cents: 2_000 })
  const { profile, ...rest } = await get(owner, '/me/dashboard-stats')
  assert.deepEqual(rest, {
    balance_brl: '120.000000001',
    keys: { active: '2', revoked: '1' },
    topups: { paid: '1', total: '2' },
    notifications: { failed: '1', total: '3' },
  })
  const { full_name, cpf_cnpj, city, street } = profile
  assert.deepEqual(
    [full_name, cpf_cnpj, city, street],
    ['Ana Souza', '52998224725', 'Recife', null],
  )
})

test("another customer's usage is never shown", async () => {
  const [owner, other] = [await createOwner('100'), await createOwner('100')]
  await settle(other, usesOf('America/Sao_Paulo', [other.apiKeyId]))
  const summary = await get(owner, '/me/usage-summary?days=365')
  assert.deepEqual(
    [summary.total_spent_brl, summary.period_totals.requests, summary.top_models],
    ['0', '0', []],
  )
  const { keys } = await get(owner, '/usage/by-key?days=365')
  assert.deepEqual(
    keys.map((key: any) => [key.api_key_id, key.requests]),
    [[owner.apiKeyId, '0']],
  )
  assert.equal((await get(owner, '/me/runway?days=90')).daily_avg_brl, '0')
  assert.deepEqual((await get(owner, '/me/recommendations?days=90')).models, [])
  const limits = (await get(owner, '/usage/rate-limit?minutes=720')).keys
  assert.deepEqual(
    limits.map((key: any) => [key.api_key_id, key.requests_per_minute.peak]),
    [[owner.apiKeyId, '0']],
  )
})

const QUERIES: readonly [path: string, name: string, min: number, max: number][] = [
  ['/me/usage-summary', 'days', 1, 365],
  ['/usage/by-key', 'days', 1, 365],
  ['/usage/by-day', 'days', 1, 90],
  ['/me/runway', 'days', 1, 90],
  ['/me/recommendations', 'days', 7, 90],
  ['/usage/rate-limit', 'minutes', 5, 720],
]

for (const [path, name, min, max] of QUERIES) {
  test(`${path} takes ${name} from ${min} to ${max} and nothing else`, async () => {
    const { secret } = gateway
    const answerTo = (value: string) =>
      ask(gateway.node.baseUrl, `${path}?${name}=${value}`, { secret })
    for (const value of [min, max]) {
      const { status, json } = await answerTo(String(value))
      assert.equal(status, 200)
      assert.equal(json[name] ?? json.period_days, value)
    }
    const plain = await ask(gateway.node.baseUrl, path, { secret })
    assert.equal(plain.json[name] ?? plain.json.period_days, name === 'days' ? 30 : 60)
    const others = [
      0,
      -1,
      min - 1,
      max + 1,
      'abc',
      '',
      '7.5',
      '1e1',
      '10d',
      '%00',
      `${min}&${name}=${max}`,
    ]
    for (const value of others) {
      const { status, json } = await answerTo(String(value))
      assert.equal(status, 400, `${value}`)
      assert.equal(json.error, 'invalid_request')
      assert.match(json.details, new RegExp(`^${name}: `))
    }
  })
}

test('latency is reported for the newest charged calls only', async () => {
  const { secret } = gateway
  const latency = async () =>
    (await ask(gateway.node.baseUrl, '/usage/by-day', { secret })).json.latency
  assert.deepEqual(await latency(), {
    calls: 0,
    p50_ms: null,
    p95_ms: null,
    first_byte_p50_ms: null,
  })
  for (let call = 0; call < 3; call++) await askChat(gateway.node.baseUrl, secret, sound())
  await askChat(gateway.node.baseUrl, secret, sound('sandbox-error-500'))
  const times = await gateway.database.db
    .selectFrom('usage_events')
    .select(['duration_ms', 'first_byte_ms'])
    .where('customer_id', '=', gateway.customerId)
    .where('outcome', '=', 'charged')
    .execute()
  const sorted = times.map(({ duration_ms }) => Number(duration_ms)).toSorted((a, b) => a - b)
  const firsts = times.map(({ first_byte_ms }) => Number(first_byte_ms)).toSorted((a, b) => a - b)
  assert.deepEqual(await latency(), {
    calls: 3,
    p50_ms: sorted[1],
    p95_ms: sorted[2],
    first_byte_p50_ms: firsts[1],
  })
})
