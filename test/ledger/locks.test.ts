// deep: generated orders of locks
/** SQL locks and increments accounts in an order of its own: the content and order of a batch change no result. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import pg from 'pg'
import { createApiKey } from '../../src/customers/api-keys.ts'
import { debit, findAccount } from '../../src/money/ledger/entries.ts'
import { ipWindow } from '../../src/money/ledger/lane/ledger-fields.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { effort } from '../harness/effort.ts'
import { createTestDatabase, seedCustomer, type TestDatabase } from '../harness/test-database.ts'
import { assertAudit } from '../harness/assert-audit.ts'
import { untilSessionsWait } from '../harness/waiting-sessions.ts'
import {
  NANO_BRL_PER_TOKEN,
  openTestLedger,
  runningCall,
  worth,
  type TestLedger,
} from '../harness/open-test-ledger.ts'

let database: TestDatabase
let one: TestLedger
let two: TestLedger

before(async () => {
  database = await createTestDatabase()
  one = await openTestLedger(database.db, database.databaseUrl, { laneCount: 1 })
  two = await openTestLedger(database.db, database.databaseUrl, { laneCount: 1 })
})

after(async () => {
  await one.ledger.close()
  await two.ledger.close()
  await database.drop()
})

const ROUNDS = effort({ ordinary: 30, full: 300 })

/** Keeps the rate windows of the test's addresses locked until `open` is called. */
async function lockWindows(): Promise<{ open(): Promise<void> }> {
  const locker = new pg.Client(database.databaseUrl)
  await locker.connect()
  await locker.query('begin')
  await locker.query(`
    insert into rate_windows (subject, window_at, requests, tokens)
    select 'i:203.0.113.' || place, '-infinity', 0, 0 from generate_series(0, 1) as place
    on conflict (subject) do update set tokens = rate_windows.tokens`)
  return {
    async open() {
      await locker.query('commit')
      await locker.end()
    },
  }
}

test('holds of two nodes never exceed the balance, although calls without a customer share their batches', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const { key, customerId } = await seedCustomer(database.db, { balanceBrl: worth(10) })
    const { key: other } = await createApiKey(database.db, {
      customerId,
      name: 'outra',
      requestsPerMinute: 1_000_000,
    })
    // Both batches wait for their windows, and continue at the same moment.
    const gate = await lockWindows()
    const asked = Promise.all(
      [one, two].map((node, place) =>
        node.inOneBatch(customerId, () => [
          // Each node uses another address and key: the account is the only row that both lock.
          node.ledger.count({ ip: `203.0.113.${place}`, ipLimit: 1_000_000 }),
          ...Array.from({ length: 10 }, () =>
            node.ledger.hold(
              node.attempt(place === 0 ? key : other, 1, { ip: `203.0.113.${place}` }),
            ),
          ),
        ]),
      ),
    )
    await sleep(40)
    await gate.open()
    const kinds = (await asked).flat().map(({ kind }) => kind)
    assert.equal(kinds.filter((kind) => kind === 'held').length, 10, `round ${round}`)
    const account = await findAccount(database.db, customerId)
    assert.equal(account?.heldNanoBrl, 10n * NANO_BRL_PER_TOKEN)
  }
  await assertAudit(database)
})

test('a debit and concurrent holds never take more than the balance', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const { key, customerId } = await seedCustomer(database.db, { balanceBrl: worth(10) })
    const [held, debited] = await Promise.all([
      one.inOneBatch(customerId, () => [
        one.ledger.count({ ip: '203.0.113.9', ipLimit: 1_000_000 }),
        ...Array.from({ length: 4 }, () => one.ledger.hold(one.attempt(key, 2))),
      ]),
      debit(database.db, {
        customerId,
        amountNanoBrl: 10n * NANO_BRL_PER_TOKEN,
        reason: 'adjustment',
        reference: createId(),
      }),
    ])
    const taken = held.filter(({ kind }) => kind === 'held').length
    assert.equal(debited.kind === 'posted', taken === 0, `round ${round}: ${taken} held`)
    const account = await findAccount(database.db, customerId)
    assert.ok((account?.balanceNanoBrl ?? 0n) >= (account?.heldNanoBrl ?? 0n))
  }
  await assertAudit(database)
})

test('a locked account delays no other account of its lane, and its own calls continue when it is free', async () => {
  const customers = await Promise.all(
    Array.from({ length: 20 }, () => seedCustomer(database.db, { balanceBrl: worth(1_000) })),
  )
  const [stuck, ...others] = customers as [(typeof customers)[0], ...typeof customers]
  const running = one.attempt(stuck.key, 1)
  assert.equal((await one.ledger.hold(running)).kind, 'held')

  const locker = new pg.Client(database.databaseUrl)
  await locker.connect()
  await locker.query('begin')
  await locker.query('select from accounts where customer_id = $1 for update', [stuck.customerId])
  const waiting = Promise.all([
    one.ledger.hold(one.attempt(stuck.key, 1)),
    one.ledger.resolve(one.charge(running, 1), runningCall),
  ])
  for (let call = 0; call < 3; call += 1) {
    await Promise.all(
      others.map(async ({ key }) => {
        const attempt = one.attempt(key, 1)
        assert.equal((await one.ledger.hold(attempt)).kind, 'held')
        assert.equal((await one.ledger.resolve(one.charge(attempt, 1))).kind, 'committed')
      }),
    )
  }
  // The other accounts were served while this one was locked.
  await locker.query('rollback')
  await locker.end()
  const [held, resolved] = await waiting
  // A lock that outlasts the time limit of the lane refuses the hold, and leaves the charge on the disk for a replay.
  assert.ok(['held', 'unavailable'].includes(held.kind))
  assert.ok(['committed', 'spooled'].includes(resolved.kind))
  while (one.ledger.spoolLength > 0) {
    await one.ledger.replaySpool()
    await sleep(50)
  }
  const { rows } = await sql`
    select from usage_events where id = ${running.id} and outcome = 'charged'`.execute(database.db)
  assert.equal(rows.length, 1)
  await assertAudit(database)
})

test('checkpoints and settlements of the same calls, over two nodes, do not deadlock', async () => {
  // A separate database, whose count contains only the deadlocks of these two nodes.
  const database = await createTestDatabase()
  const customers = await Promise.all(
    Array.from({ length: 8 }, () => seedCustomer(database.db, { balanceBrl: worth(100_000) })),
  )
  const url = new URL(database.databaseUrl)
  url.searchParams.set('application_name', 'deadlocks')
  const ledgerUrl = url.href
  const nodes = await Promise.all(
    [1, 2].map(() =>
      openTestLedger(database.db, database.databaseUrl, { laneCount: 4, ledgerUrl }),
    ),
  )
  const [one, two] = nodes as [TestLedger, TestLedger]
  for (let round = 0; round < ROUNDS; round += 1) {
    const attempts = customers.flatMap(({ key }) =>
      Array.from({ length: 6 }, () => one.attempt(key, 2)),
    )
    await Promise.all(attempts.map((attempt) => one.ledger.hold(attempt)))
    const checkpoints = attempts.map(({ id, customerId }) => ({
      id,
      customerId,
      outputTokensSeen: 1,
    }))
    await Promise.all([
      one.ledger.checkpoint(checkpoints),
      two.ledger.checkpoint(checkpoints.toReversed()),
      ...attempts
        .toReversed()
        .map((attempt, place) =>
          (place % 2 ? one : two).ledger.resolve(one.charge(attempt, 1), runningCall),
        ),
    ])
  }
  await Promise.all(nodes.map(({ ledger }) => ledger.close()))
  await assertAudit(database)
  assert.equal(await countDeadlocksOfEnded(database, 'deadlocks'), 0n)
  await database.drop()
})

/** The deadlocks of ended sessions: a session reports its statistics at the latest when it ends. */
async function countDeadlocksOfEnded({ db }: TestDatabase, applicationName: string) {
  for (;;) {
    const { rows } = await sql`
      select 1 from pg_stat_activity
      where datname = current_database() and application_name = ${applicationName}`.execute(db)
    if (rows.length === 0) break
    await sleep(20)
  }
  const { rows } = await sql<{ deadlocks: bigint }>`
    select deadlocks from pg_stat_database where datname = current_database()`.execute(db)
  return rows[0]?.deadlocks
}

test('rate windows are locked in one order, in whatever order the database sorts texts', async () => {
  const { db, databaseUrl } = database
  // As in a language, where a colon comes before a digit; for the ledger's own sort it comes behind.
  await sql`alter table rate_windows alter column subject type text collate "und-x-icu"`.execute(db)
  const [first, second] = ['2001:db8:12::1', '2001:db8:1::1']
  const { key, customerId } = await seedCustomer(db, {
    balanceBrl: worth(100),
    tokensPerMinute: 1_000,
  })
  const attempt = one.attempt(key, 10)
  assert.equal((await one.ledger.hold(attempt)).kind, 'held')
  const count = (ip: string) => one.ledger.count({ ip, ipLimit: 1_000 })
  await Promise.all([count(first), count(second)])
  const locker = new pg.Client(databaseUrl)
  await locker.connect()
  await locker.query('begin')
  await locker.query('select from rate_windows where subject = $1 for update', [ipWindow(first)])
  const done = one.inOneBatch<unknown>(customerId, () => [
    one.ledger.resolve(one.charge(attempt, 5), runningCall),
    count(first),
    count(second),
  ])
  await untilSessionsWait(db)
  // Nobody who waits for the first window has the second one.
  const { rowCount } = await locker.query(
    'select from rate_windows where subject = $1 for update skip locked',
    [ipWindow(second)],
  )
  await locker.query('commit')
  await locker.end()
  await done
  await sql`alter table rate_windows alter column subject type text collate "default"`.execute(db)
  assert.equal(rowCount, 1)
})

test('a hold that cannot reach the database leaves nothing behind: no record on the disk, no held money', async () => {
  const nobody = await openTestLedger(database.db, database.databaseUrl, {
    ledgerUrl: 'postgres://nobody@127.0.0.1:1/nothing',
  })
  const { key, customerId } = await seedCustomer(database.db, { balanceBrl: worth(10) })
  const verdicts = await Promise.all(
    Array.from({ length: 200 }, () => nobody.ledger.hold(nobody.attempt(key, 1))),
  )
  assert.ok(verdicts.every(({ kind }) => kind === 'unavailable'))
  assert.equal(nobody.ledger.spoolLength, 0)
  assert.equal((await findAccount(database.db, customerId))?.heldNanoBrl, 0n)
  await nobody.ledger.close()
})

test('a late settlement in a new period does not restore the old period', async () => {
  const { key } = await seedCustomer(database.db, {
    balanceBrl: worth(1_000),
    budget: { limitPicoUsd: 2_000_000_000n, period: 'day' },
  })
  const attempt = one.attempt(key, 10)
  assert.equal((await one.ledger.hold(attempt)).kind, 'held')
  // The row as another node left it that read the database's clock after midnight.
  await sql`
    update api_key_budgets set spent_pico_usd = 500, spent_before_pico_usd = 500, spent_since = clock_timestamp() + interval '1 day',
      period_started_at = budget_period_start(period, timezone) + interval '1 day'
    where api_key_id = ${key.id}`.execute(database.db)
  await one.ledger.resolve(one.charge(attempt, 10))
  const { rows } = await sql<{ spent: bigint; is_next: boolean }>`
    select spent_pico_usd as spent, period_started_at > now() as is_next from api_key_budgets
    where api_key_id = ${key.id}`.execute(database.db)
  assert.deepEqual(rows, [{ spent: 500n + 20_000_000n, is_next: true }])
})
