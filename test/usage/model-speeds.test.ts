/** How fast models answer: what is measured, which numbers are shown, and that nobody's use is read from them. */
import assert from 'node:assert/strict'
import { createHash, randomUUID } from 'node:crypto'
import { after, before, beforeEach, test } from 'node:test'
import { sql } from 'kysely'
import { LATENCY_BUCKETS } from '../../src/platform/lib/latency-buckets.ts'
import {
  createModelSpeeds,
  pruneModelSpeeds,
  sumModelSpeeds,
  type ModelSpeed,
} from '../../src/money/usage/model-speeds.ts'
import { CACHE_UPSTREAM } from '../../src/money/usage/usage-event.ts'
import { seedUsage } from '../harness/seed-usage.ts'
import { createTestDatabase, seedCustomer, type TestDatabase } from '../harness/test-database.ts'

let database: TestDatabase

before(async () => {
  database = await createTestDatabase()
  const { customerId, key } = await seedCustomer(database.db, { balanceBrl: '1' })
  const use = { at: new Date(), modelId: 'pattern', promptTokens: 1, completionTokens: 1 }
  await seedUsage(database.db, { customerId, apiKeyId: key.id, events: [use] })
  await sql`create table pattern as select * from usage_events`.execute(database.db)
})
beforeEach(() => sql`delete from usage_events; delete from model_speed_days`.execute(database.db))
after(() => database.drop())

/** A whole streamed answer of 100 tokens in the 2 s after its first byte, which came after half a second. */
const ANSWER = {
  model_id: 'gpt-4o',
  is_stream: true,
  first_byte_ms: 500,
  duration_ms: 2_500,
  completion_tokens: 100,
}

/** Customers that the sums tell apart: no two have the same bit. */
function customers(count: number): string[] {
  const found = new Map<number, string>()
  while (found.size < count) {
    const id = randomUUID()
    const bytes = Buffer.from(id.replaceAll('-', ''), 'hex')
    const [byte = 0] = createHash('sha256').update(bytes).digest()
    found.set(byte & 63, id)
  }
  return [...found.values()]
}

interface Given {
  readonly customers: readonly string[]
  /** Of each customer. */
  readonly calls: number
  readonly hoursAgo?: number
  readonly fields?: Record<string, unknown>
}

async function answers({ customers: ids, calls, hoursAgo = 2, fields = {} }: Given): Promise<void> {
  const at = new Date(Date.now() - hoursAgo * 3_600_000)
  for (const id of ids)
    await sql`
      insert into usage_events
      select (jsonb_populate_record(pattern::text::usage_events, ${JSON.stringify({ ...ANSWER, customer_id: id, created_at: at, settled_at: at, ...fields })}::jsonb
        || jsonb_build_object('id', gen_random_uuid()))).*
      from pattern, generate_series(1, ${calls}::int)`.execute(database.db)
}

async function shown(): Promise<readonly ModelSpeed[]> {
  await sumModelSpeeds(database.db)
  return createModelSpeeds(database.db).list()
}

function assertNear(value: number | null | undefined, wanted: number): void {
  assert.ok(typeof value === 'number' && Math.abs(value / wanted - 1) <= 0.05, `${value}`)
}

test('the throughput is the tokens of an answer by the time after its first byte, and both figures are medians', async () => {
  const ids = customers(3)
  await answers({ customers: ids, calls: 4 })
  // One reader who takes an hour, and one answer at once, change nothing.
  await answers({ customers: ids.slice(0, 1), calls: 1, fields: { duration_ms: 3_600_000 } })
  await answers({ customers: ids.slice(0, 1), calls: 1, fields: { first_byte_ms: 1 } })
  const [speed, ...none] = await shown()
  assert.deepEqual([speed?.modelId, none], ['gpt-4o', []])
  assertNear(speed?.firstByteMs, 500)
  assertNear(speed?.tokensPerSecond, 50)
})

test('only whole streamed answers of an upstream count', async () => {
  const ids = customers(3)
  const others: readonly Record<string, unknown>[] = [
    { is_stream: false },
    { outcome: 'released', usage_kind: 'none' },
    { usage_kind: 'estimated', reason: 'upstream_broke_off' },
    { reason: 'client_left' },
    { upstream_id: CACHE_UPSTREAM },
    { corrects_id: randomUUID() },
    { first_byte_ms: null, duration_ms: null },
  ]
  for (const fields of others) await answers({ customers: ids, calls: 10, fields })
  assert.deepEqual(await shown(), [])
})

test('an answer that is too short, took no time or has tokens of reasoning has a first byte, and no throughput', async () => {
  const ids = customers(3)
  const others: readonly Record<string, unknown>[] = [
    { completion_tokens: 19 },
    { duration_ms: ANSWER.first_byte_ms },
    { reasoning_tokens: 1 },
  ]
  for (const fields of others) await answers({ customers: ids, calls: 10, fields })
  const [speed] = await shown()
  assertNear(speed?.firstByteMs, 500)
  assert.equal(speed?.tokensPerSecond, null)
})

test('the use of one customer, of two or of few calls is not shown, in sums or by day', async () => {
  const ids = customers(5)
  const cases: readonly [string, Given][] = [
    ['of-one', { customers: ids.slice(0, 1), calls: 100 }],
    ['of-two', { customers: ids.slice(0, 2), calls: 50 }],
    ['of-few-calls', { customers: ids.slice(0, 3), calls: 3 }],
    ['of-enough', { customers: ids, calls: 2 }],
  ]
  for (const [model_id, given] of cases) await answers({ ...given, fields: { model_id } })
  await storeDays('of-days', [
    { ago: 0, customers: 1n },
    { ago: 1, customers: 2n },
    { ago: 2, customers: 4n },
  ])
  assert.deepEqual(
    (await shown()).map(({ modelId }) => modelId),
    ['of-days', 'of-enough'],
    'enough over the days, and on no single one',
  )
  const speeds = createModelSpeeds(database.db)
  const days = await Promise.all(
    [...cases.map(([id]) => id), 'of-days'].map(async (id) => (await speeds.listDays(id)).length),
  )
  assert.deepEqual(days, [0, 0, 0, 1, 0])
})

/** Twenty calls on each of the days. */
async function storeDays(
  modelId: string,
  days: readonly { readonly ago: number; readonly customers: bigint }[],
): Promise<void> {
  const counts = Array.from({ length: LATENCY_BUCKETS }, (_, bucket) => (bucket === 40 ? 20 : 0))
  for (const { ago, customers: bits } of days)
    await sql`
      insert into model_speed_days select ${modelId}, (now() at time zone 'America/Sao_Paulo')::date - ${ago}::int,
        now() - interval '1 day', ${counts}::int8[], ${bits}::int8, ${counts}::int8[], 1`.execute(
      database.db,
    )
}

test('an hour is summed once, after its end, however often and beside itself the job runs', async () => {
  const ids = customers(3)
  const { db } = database
  await answers({ customers: ids, calls: 1, hoursAgo: 0 })
  assert.deepEqual(await shown(), [])
  for (const hoursAgo of [3, 2]) await answers({ customers: ids, calls: 2, hoursAgo })
  await Promise.all([sumModelSpeeds(db), sumModelSpeeds(db)])
  await sumModelSpeeds(db)
  const counted = async (): Promise<bigint> => {
    const { rows } = await sql<{ calls: bigint }>`
      select sum(calls)::int8 as calls from model_speed_days, unnest(pace_counts) calls`.execute(db)
    return rows[0]?.calls ?? 0n
  }
  assert.equal(await counted(), 12n)
  // A run that was killed between two hours: the next one goes on there.
  await sql`update model_speed_days set until_at = until_at - interval '1 hour'`.execute(db)
  await sumModelSpeeds(db)
  assert.equal(await counted(), 18n)
  assertNear((await createModelSpeeds(db).list())[0]?.tokensPerSecond, 50)
})

test('days of Brasília are listed, the oldest first, for as long as they are in the window', async () => {
  const { db } = database
  await storeDays(
    'gpt-4o',
    [101, 30, 29, 1, 0].map((ago) => ({ ago, customers: 7n })),
  )
  const days = await createModelSpeeds(db).listDays('gpt-4o')
  const dayOf = (ago: number): string =>
    new Date(Date.now() - ago * 86_400_000).toLocaleDateString('sv-SE', {
      timeZone: 'America/Sao_Paulo',
    })
  assert.deepEqual(
    days.map(({ day }) => day),
    [29, 1, 0].map(dayOf),
  )
  assert.ok(days.every(({ firstByteMs }) => firstByteMs !== null))
  assert.ok(days.every(({ tokensPerSecond }) => tokensPerSecond === null))
  assert.equal(await pruneModelSpeeds(db), 1)
})

test('an answer is kept for minutes, so that strangers cannot load the database', async () => {
  const speeds = createModelSpeeds(database.db)
  assert.deepEqual(await speeds.list(), [])
  assert.deepEqual(await speeds.listDays('gpt-4o'), [])
  await answers({ customers: customers(3), calls: 10 })
  assert.equal((await shown()).length, 1)
  assert.deepEqual(await speeds.list(), [])
  assert.deepEqual(await speeds.listDays('gpt-4o'), [])
})
