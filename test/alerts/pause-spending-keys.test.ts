/** The spending guard: keys far above their usual pace, at times that the test chooses. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from 'kysely'
import { createPauseSpendingKeys } from '../../src/deliveries/alerts/pause-spending-keys.ts'
import { createApiKey } from '../../src/customers/api-keys.ts'
import { resumeKey } from '../../src/customers/key-acts.ts'
import { changeSpendingGuard } from '../../src/customers/spending-guard.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { BRL, log } from '../harness/alerts.ts'
import { seedUsage } from '../harness/seed-usage.ts'
import { createTestDatabase, seedCustomer } from '../harness/test-database.ts'

const database = await createTestDatabase()
const { db } = database
after(() => database.drop())

const NOW = new Date('2026-11-20T12:15:00Z')
const MINUTE_MS = 60_000
const ago = (minutes: number): Date => new Date(NOW.getTime() - minutes * MINUTE_MS)
const DAYS = 24 * 60

interface Seeded {
  readonly customerId: string
  readonly keyId: string
}

async function addCustomer(): Promise<Seeded> {
  const { customerId, key } = await seedCustomer(db, { balanceBrl: '1000000' })
  return { customerId, keyId: key.id }
}

async function addKey({ customerId }: Seeded): Promise<Seeded> {
  const made = await createApiKey(db, { customerId, name: 'outra', requestsPerMinute: 1 })
  return { customerId, keyId: made.key.id }
}

/** In whole reais, as calls of the key. */
async function spend(
  { customerId, keyId }: Seeded,
  uses: readonly (readonly [minutesAgo: number, reais: number, sessionId?: string])[],
  now = NOW,
): Promise<void> {
  const events = uses.map(([minutes, reais, sessionId]) => ({
    at: new Date(now.getTime() - minutes * MINUTE_MS),
    modelId: 'sandbox-chat',
    promptTokens: 1,
    completionTokens: 1,
    billed: BigInt(reais) * BRL,
    sessionId: sessionId ?? null,
  }))
  await seedUsage(db, { customerId, apiKeyId: keyId, events })
  await sql`
    insert into api_key_uses values (${keyId}, ${now})
    on conflict (api_key_id) do update set last_used_at = excluded.last_used_at`.execute(db)
}

const look = (now = NOW): Promise<number> => createPauseSpendingKeys({ db, log, now: () => now })()

async function isPaused({ keyId }: Seeded): Promise<boolean> {
  const { paused_reason } = await db
    .selectFrom('api_keys')
    .select('paused_reason')
    .where('id', '=', keyId)
    .executeTakeFirstOrThrow()
  assert.ok(paused_reason === null || paused_reason === 'anomaly')
  return paused_reason !== null
}

async function eventsOf({ customerId }: Seeded): Promise<any[]> {
  return db
    .selectFrom('events')
    .select(['type', 'data'])
    .where('customer_id', '=', customerId)
    .orderBy('id')
    .execute()
}

test('a key that spends tenfold of its busiest hour is paused, and its owner is told how much it was', async () => {
  const [tenfold, ninefold] = [await addCustomer(), await addCustomer()]
  for (const [each, reais] of [
    [tenfold, 300],
    [ninefold, 270],
  ] as const)
    await spend(each, [
      [20 * DAYS, 30],
      [3 * DAYS, 29],
      [10, reais],
    ])
  await look()
  assert.equal(await isPaused(tenfold), true)
  assert.equal(await isPaused(ninefold), false)
  const [event] = await eventsOf(tenfold)
  assert.equal(event.type, 'key.paused')
  const { reason, spent_in_hour_brl, usual_in_hour_brl } = event.data
  assert.deepEqual([reason, spent_in_hour_brl, usual_in_hour_brl], ['anomaly', '300', '30'])
  const acts = await db
    .selectFrom('audit_log')
    .select(['actor_kind', 'action', 'details'])
    .where('subject_id', '=', tenfold.keyId)
    .execute()
  assert.deepEqual(acts, [
    { actor_kind: 'system', action: 'api_key.paused', details: { reason: 'anomaly' } },
  ])
  assert.equal(await look(), 0)
})

test('a first day of work below the floor is no anomaly, and one above it is', async () => {
  const [below, above] = [await addCustomer(), await addCustomer()]
  await spend(below, [[5, 199]])
  await spend(above, [[5, 201]])
  await look()
  assert.equal(await isPaused(below), false)
  assert.equal(await isPaused(above), true)
})

test('a pace is that of 60 minutes: the previous hour counts by its share', async () => {
  const [mostly, hardly] = [await addCustomer(), await addCustomer()]
  // At 12:15, three quarters of the hour from 11:00 count.
  await spend(mostly, [[30, 280]])
  await spend(hardly, [[30, 260]])
  await look()
  assert.equal(await isPaused(mostly), true)
  assert.equal(await isPaused(hardly), false)
})

test('what began in the previous hour does not count as usual', async () => {
  const runaway = await addCustomer()
  await spend(runaway, [
    [3 * DAYS, 10],
    [20, 150],
    [10, 150],
  ])
  await look()
  assert.equal(await isPaused(runaway), true)
})

test('a new key in the place of another one has its pace', async () => {
  const old = await addCustomer()
  await spend(old, [[2 * DAYS, 900]])
  const fresh = await addKey(old)
  await spend(fresh, [[5, 1_000]])
  await look()
  assert.equal(await isPaused(fresh), false)
})

test('a resumed key goes on at the same pace, and is paused again at tenfold of it', async () => {
  const owner = await addCustomer()
  await spend(owner, [[10, 300]])
  await look()
  assert.equal(await isPaused(owner), true)
  const actor = { kind: 'customer', customerId: owner.customerId } as const
  assert.equal(await resumeKey(db, actor, owner), 'resumed')
  await spend(owner, [[5, 300]])
  await look()
  assert.equal(await isPaused(owner), false)
  await spend(owner, [[1, 2_500]])
  await look()
  assert.equal(await isPaused(owner), true)
})

test('the guard has the factor and the floor of the account, or is off', async () => {
  const [careful, bold, off] = [await addCustomer(), await addCustomer(), await addCustomer()]
  const set = (each: Seeded, factor: number | null, floor: number) =>
    changeSpendingGuard(
      db,
      { kind: 'customer', customerId: each.customerId, sessionId: createId() },
      { customerId: each.customerId, change: { factor, floorNanoBrl: BigInt(floor) * BRL } },
    )
  await set(careful, 2, 1)
  await set(bold, 1_000, 1)
  await set(off, null, 1)
  for (const each of [careful, bold, off])
    await spend(each, [
      [3 * DAYS, 1],
      [5, 2],
    ])
  await spend(off, [[5, 100_000]])
  await look()
  assert.equal(await isPaused(careful), true)
  assert.equal(await isPaused(bold), false)
  assert.equal(await isPaused(off), false)
})

test('a session that spends tenfold of what sessions usually do pauses its key, though the key spends as usual', async () => {
  const [runaway, usual] = [await addCustomer(), await addCustomer()]
  for (const each of [runaway, usual])
    await spend(each, [
      [3 * DAYS, 400],
      [3 * DAYS, 20, 'tarefa-de-antes'],
      [2 * DAYS, 22, 'outra-de-antes'],
    ])
  await spend(runaway, [[10, 230, 'tarefa']])
  await spend(usual, [
    [10, 115, 'tarefa-um'],
    [10, 115, 'tarefa-dois'],
  ])
  await look()
  assert.equal(await isPaused(usual), false)
  assert.equal(await isPaused(runaway), true)
  const [event] = await eventsOf(runaway)
  assert.equal(event.data.session_id, 'tarefa')
  assert.deepEqual([event.data.spent_in_hour_brl, event.data.usual_in_hour_brl], ['230', '22'])
  const actor = { kind: 'customer', customerId: runaway.customerId } as const
  assert.equal(await resumeKey(db, actor, runaway), 'resumed')
  await look()
  assert.equal(await isPaused(runaway), false)
})

test('the usual pace is read anew after a full hour', async () => {
  const owner = await addCustomer()
  let now = NOW
  const again = createPauseSpendingKeys({ db, log, now: () => now })
  await spend(owner, [
    [3 * DAYS, 30],
    [10, 250],
  ])
  await again()
  assert.equal(await isPaused(owner), false)
  // Three hours later the hour of 250 is usual.
  now = new Date(NOW.getTime() + 180 * MINUTE_MS)
  await spend(owner, [[5, 2_000]], now)
  await again()
  assert.equal(await isPaused(owner), false)
  await spend(owner, [[1, 600]], now)
  await again()
  assert.equal(await isPaused(owner), true)
})

test('accounts that spend nothing are not read', async () => {
  const quiet = await addCustomer()
  await spend(quiet, [[5, 500]])
  await sql`update api_key_uses set last_used_at = ${ago(40)} where api_key_id = ${quiet.keyId}`.execute(
    db,
  )
  await look()
  assert.equal(await isPaused(quiet), false)
})
