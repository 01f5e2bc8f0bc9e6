/** The caps of a key for each minute, day and task are held and spent exactly, along with the balance. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { changeApiKey } from '../../src/customers/change-api-key.ts'
import { createApiKey, type ApiKey } from '../../src/customers/api-keys.ts'
import type { CapPeriod } from '../../src/platform/db/tables.ts'
import type { Attempt } from '../../src/money/ledger/attempt.ts'
import { audit } from '../../src/money/ledger/audit/audit.ts'
import { sealUsage } from '../../src/money/ledger/audit/audit-seals.ts'
import { pruneTasks } from '../../src/money/ledger/prune-tasks.ts'
import { release } from '../../src/money/ledger/resolution.ts'
import { assertAudit } from '../harness/assert-audit.ts'
import { avoidMinuteEnd } from '../harness/avoid-minute-end.ts'
import fc from '../harness/fast-check.ts'
import { NANO_BRL_PER_TOKEN, openTestLedger, type TestLedger } from '../harness/open-test-ledger.ts'
import { createTestDatabase, seedCustomer, type TestDatabase } from '../harness/test-database.ts'

let database: TestDatabase
let one: TestLedger
let two: TestLedger

before(async () => {
  database = await createTestDatabase()
  one = await openTestLedger(database.db, database.databaseUrl)
  two = await openTestLedger(database.db, database.databaseUrl)
})

after(async () => {
  await one.ledger.close()
  await two.ledger.close()
  await database.drop()
})

interface Caps {
  readonly minute?: number
  readonly day?: number
  readonly task?: number
}

const nano = (tokens: number | undefined): bigint | undefined =>
  tokens === undefined ? undefined : BigInt(tokens) * NANO_BRL_PER_TOKEN

async function keyWith({ minute, day, task }: Caps): Promise<ApiKey> {
  const { customerId } = await seedCustomer(database.db, { balanceBrl: '1000' })
  const { key } = await createApiKey(database.db, {
    customerId,
    name: 'com limites',
    requestsPerMinute: 1_000_000,
    minuteLimitNanoBrl: nano(minute),
    dayLimitNanoBrl: nano(day),
    taskLimitNanoBrl: nano(task),
  })
  return key
}

function inTask(key: ApiKey, tokens: number, sessionId: string, more: Partial<Attempt> = {}) {
  return one.attempt(key, tokens, {
    sessionId,
    taskLimitNanoBrl: key.taskLimitNanoBrl,
    ...more,
  })
}

async function capOf(key: ApiKey, period: CapPeriod) {
  const row = await database.db
    .selectFrom('key_caps')
    .selectAll()
    .where('api_key_id', '=', key.id)
    .where('period', '=', period)
    .executeTakeFirstOrThrow()
  return tokensOf(row)
}

async function taskOf(key: ApiKey, sessionId: string) {
  const row = await database.db
    .selectFrom('task_spends')
    .selectAll()
    .where('api_key_id', '=', key.id)
    .where('session_id', '=', sessionId)
    .executeTakeFirstOrThrow()
  return tokensOf(row)
}

function tokensOf(row: {
  spent_nano_brl: bigint
  held_nano_brl: bigint
  overdrawn_nano_brl: bigint
}) {
  const tokens = (amount: bigint): number => Number(amount) / Number(NANO_BRL_PER_TOKEN)
  return {
    spent: tokens(row.spent_nano_brl),
    held: tokens(row.held_nano_brl),
    overdrawn: tokens(row.overdrawn_nano_brl),
  }
}

async function held(attempt: Attempt): Promise<Attempt> {
  assert.equal((await one.ledger.hold(attempt)).kind, 'held')
  return attempt
}

const GUARDS = ['minute', 'day', 'task'] as const

for (const guard of GUARDS)
  test(`two nodes together never hold or spend more than the cap of a ${guard}, whatever runs at once`, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 60 }),
        fc.array(
          fc.record({
            tokens: fc.integer({ min: 1, max: 9 }),
            spends: fc.integer({ min: 0, max: 9 }),
            node: fc.boolean(),
            isReleased: fc.boolean(),
          }),
          { minLength: 20, maxLength: 60 },
        ),
        async (limit, calls) => {
          await avoidMinuteEnd()
          const key = await keyWith({ [guard]: limit })
          let charged = 0
          await Promise.all(
            calls.map(async ({ tokens, spends, node, isReleased }) => {
              const { ledger } = node ? one : two
              const attempt = inTask(key, tokens, 'agente')
              const verdict = await ledger.hold(attempt)
              if (verdict.kind !== 'held') {
                assert.equal(verdict.kind, `short_${guard}`)
                assert.ok(verdict.kind !== 'unavailable' && verdict.cap)
                assert.equal(verdict.cap.limitNanoBrl, nano(limit))
                assert.ok(verdict.cap.leftNanoBrl < attempt.amountNanoBrl)
                return
              }
              const billed = Math.min(tokens, spends)
              await (node ? two : one).ledger.resolve(
                isReleased ? release(attempt, 'test') : one.charge(attempt, billed),
              )
              if (!isReleased) charged += billed
            }),
          )
          assert.ok(charged <= limit, `${charged} of ${limit}`)
          const its =
            guard === 'task'
              ? await taskOf(key, 'agente').catch(() => undefined)
              : await capOf(key, guard)
          if (its) assert.deepEqual(its, { spent: charged, held: 0, overdrawn: 0 })
        },
      ),
      { numRuns: 6 },
    )
    await assertAudit(database)
  })

test('of several caps, the one with the least left refuses, and says when it starts over', async () => {
  const key = await keyWith({ minute: 50, day: 40, task: 30 })
  const hold = async (tokens: number, sessionId: string) => {
    const verdict = await one.ledger.hold(inTask(key, tokens, sessionId))
    assert.ok(verdict.kind !== 'unavailable')
    return verdict
  }
  const ofTask = await hold(31, 'a')
  assert.equal(ofTask.kind, 'short_task')
  assert.deepEqual(ofTask.cap, { leftNanoBrl: nano(30), limitNanoBrl: nano(30), until: null })
  assert.equal((await hold(30, 'a')).kind, 'held')
  const ofDay = await hold(11, 'b')
  assert.equal(ofDay.kind, 'short_day')
  assert.equal(ofDay.cap?.leftNanoBrl, nano(10))
  const midnight = ofDay.cap?.until
  assert.ok(midnight && midnight > ofDay.at)
  assert.equal(
    new Intl.DateTimeFormat('pt-BR', { timeZone: 'America/Sao_Paulo', timeStyle: 'medium' }).format(
      midnight,
    ),
    '00:00:00',
  )
})

test('a call without a session is part of no task', async () => {
  const key = await keyWith({ task: 5 })
  assert.equal((await one.ledger.hold(one.attempt(key, 6))).kind, 'held')
  assert.equal((await one.ledger.hold(inTask(key, 6, 's'))).kind, 'short_task')
})

test('each task and each key has a cap of its own', async () => {
  const key = await keyWith({ task: 5 })
  const other = await keyWith({ task: 5 })
  await held(inTask(key, 5, 's'))
  await held(inTask(key, 5, 't'))
  await held(inTask(other, 5, 's'))
  assert.equal((await one.ledger.hold(inTask(key, 1, 's'))).kind, 'short_task')
  await assertAudit(database)
})

for (const [period, back] of [
  ['minute', '1 minute'],
  ['day', '1 day'],
] as const)
  test(`a new ${period} begins at zero, and an older hold is spent in it`, async () => {
    await avoidMinuteEnd()
    const key = await keyWith({ [period]: 10 })
    await one.ledger.resolve(one.charge(await held(one.attempt(key, 8)), 8))
    const across = await held(one.attempt(key, 2))
    await sql`update key_caps set period_started_at = period_started_at - ${back}::interval,
      spent_since = spent_since - ${back}::interval, counted_since = counted_since - ${back}::interval
      where api_key_id = ${key.id}`.execute(database.db)
    await sql`update usage_events set settled_at = settled_at - ${back}::interval
      where api_key_id = ${key.id}`.execute(database.db)
    assert.equal((await one.ledger.hold(one.attempt(key, 9))).kind, `short_${period}`)
    await one.ledger.resolve(one.charge(across, 2))
    assert.deepEqual(await capOf(key, period), { spent: 2, held: 0, overdrawn: 0 })
    assert.equal((await one.ledger.hold(one.attempt(key, 8))).kind, 'held')
    await assertAudit(database)
  })

test('a changed cap keeps what is held and spent, and a removed one no longer counts', async () => {
  await avoidMinuteEnd()
  const key = await keyWith({ minute: 20, day: 20 })
  await one.ledger.resolve(one.charge(await held(one.attempt(key, 5)), 5))
  const running = await held(one.attempt(key, 10))
  const change = async (fields: Parameters<typeof changeApiKey>[3]): Promise<ApiKey> => {
    const changed = await changeApiKey(database.db, key.customerId, key.id, fields)
    assert.ok(changed.kind === 'changed')
    return changed.key
  }
  const lowered = await change({ dayLimitNanoBrl: nano(12) as bigint, minuteLimitNanoBrl: null })
  assert.deepEqual(await capOf(key, 'day'), { spent: 5, held: 10, overdrawn: 3 })
  assert.equal((await one.ledger.hold(one.attempt(lowered, 1))).kind, 'short_day')
  await assertAudit(database)
  const again = await change({ minuteLimitNanoBrl: nano(30) as bigint })
  assert.deepEqual(await capOf(key, 'minute'), { spent: 0, held: 10, overdrawn: 0 })
  await one.ledger.resolve(one.charge(running, 7))
  assert.deepEqual(await capOf(key, 'day'), { spent: 12, held: 0, overdrawn: 0 })
  assert.deepEqual(await capOf(key, 'minute'), { spent: 7, held: 0, overdrawn: 0 })
  assert.equal((await one.ledger.hold(one.attempt(again, 1))).kind, 'short_day')
  await assertAudit(database)
})

test('a correction takes back from each cap that counted the charge, and from no other', async () => {
  await avoidMinuteEnd()
  const key = await keyWith({ minute: 50, day: 50, task: 50 })
  const attempt = await held(inTask(key, 10, 's'))
  await one.ledger.resolve(one.charge(attempt, 9))
  await sql`update key_caps set period_started_at = '-infinity', spent_nano_brl = 0, spent_since = clock_timestamp()
    where api_key_id = ${key.id} and period = 'minute'`.execute(database.db)
  await sql`update key_caps set counted_since = clock_timestamp()
    where api_key_id = ${key.id} and period = 'minute'`.execute(database.db)
  const corrected = await one.ledger.resolve({ ...one.charge(attempt, 4), isFinal: true })
  assert.equal(corrected.kind, 'corrected')
  assert.deepEqual(await taskOf(key, 's'), { spent: 4, held: 0, overdrawn: 0 })
  assert.equal((await capOf(key, 'day')).spent, 4)
  assert.equal((await capOf(key, 'minute')).spent, 0)
  await assertAudit(database)
})

test('a charge above its hold is recorded as an overdraft of each cap', async () => {
  await avoidMinuteEnd()
  const key = await keyWith({ minute: 10, day: 10, task: 10 })
  await one.ledger.resolve(one.charge(await held(inTask(key, 8, 's')), 15))
  for (const its of [await taskOf(key, 's'), await capOf(key, 'day'), await capOf(key, 'minute')])
    assert.deepEqual(its, { spent: 15, held: 0, overdrawn: 5 })
  assert.notEqual((await one.ledger.hold(inTask(key, 1, 's'))).kind, 'held')
  await assertAudit(database)
})

test('caps are proved from sealed time too', async () => {
  const key = await keyWith({ minute: 100, day: 100, task: 100 })
  await one.ledger.resolve(one.charge(await held(inTask(key, 8, 's')), 8))
  await one.ledger.resolve(one.charge(await held(one.attempt(key, 5)), 5))
  assert.ok((await sealUsage(database.db, { marginSeconds: 0, share: 1 })) > 0)
  await one.ledger.resolve(one.charge(await held(inTask(key, 3, 's')), 3))
  const report = await audit(database.db, {}, { isFull: true })
  assert.deepEqual(
    report.checks.filter(({ ok }) => !ok),
    [],
  )
})

test('a task that rested for long starts over, and one that runs does not', async () => {
  const key = await keyWith({ task: 10 })
  const old = await held(inTask(key, 9, 'old'))
  await one.ledger.resolve(one.charge(old, 9))
  await held(inTask(key, 9, 'running'))
  await held(inTask(key, 9, 'recent')).then((attempt) => one.ledger.resolve(one.charge(attempt, 9)))
  await sql`update task_spends set last_held_at = now() - interval '91 days'
    where api_key_id = ${key.id} and session_id <> 'recent'`.execute(database.db)
  assert.equal(await pruneTasks(database.db), 1)
  for (const [session, kind] of [
    ['old', 'held'],
    ['running', 'short_task'],
    ['recent', 'short_task'],
  ] as const)
    assert.equal((await one.ledger.hold(inTask(key, 9, session))).kind, kind)
  // The charge of the time before is corrected outside of the new sum.
  await one.ledger.resolve({ ...one.charge(old, 1), isFinal: true })
  assert.deepEqual(await taskOf(key, 'old'), { spent: 0, held: 9, overdrawn: 0 })
  await assertAudit(database)
})

test('the audit finds a cap or a task whose sums are not those of its holds and charges', async () => {
  const names = async (): Promise<string[]> =>
    (await audit(database.db)).checks.filter(({ ok }) => !ok).map(({ name }) => name)
  const key = await keyWith({ day: 100, task: 100 })
  await one.ledger.resolve(one.charge(await held(inTask(key, 8, 's')), 8))
  for (const [table, column, name] of [
    ['key_caps', 'held_nano_brl', 'key caps of a day hold the sum of their open holds'],
    ['key_caps', 'spent_nano_brl', 'key caps of a day have spent the sum of their charges'],
    ['task_spends', 'held_nano_brl', 'task caps hold the sum of their open holds'],
    ['task_spends', 'spent_nano_brl', 'task caps have spent the sum of their charges'],
  ] as const) {
    const add = (more: number) =>
      sql`update ${sql.table(table)} set ${sql.ref(column)} = ${sql.ref(column)} + ${more}
        where api_key_id = ${key.id}`.execute(database.db)
    await add(1)
    assert.deepEqual(await names(), [name])
    await add(-1)
  }
  assert.deepEqual(await names(), [])
})
