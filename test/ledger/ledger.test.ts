import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from '../harness/fast-check.ts'
import { sql } from 'kysely'
import { createApiKey, revokeApiKey } from '../../src/customers/api-keys.ts'
import type { Attempt } from '../../src/money/ledger/attempt.ts'
import { audit } from '../../src/money/ledger/audit/audit.ts'
import { credit, debit, findAccount } from '../../src/money/ledger/entries.ts'
import { release } from '../../src/money/ledger/resolution.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { avoidMinuteEnd } from '../harness/avoid-minute-end.ts'
import { createTestDatabase, seedCustomer, type TestDatabase } from '../harness/test-database.ts'
import {
  NANO_BRL_PER_TOKEN,
  openTestLedger,
  worth,
  type TestLedger,
} from '../harness/open-test-ledger.ts'

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

async function assertAudit(): Promise<void> {
  const report = await audit(database.db)
  assert.deepEqual(
    report.checks.filter((check) => !check.ok),
    [],
  )
}

test('holds never exceed the balance, at any concurrency and over two nodes', async () => {
  const { key, customerId } = await seedCustomer(database.db, { balanceBrl: worth(1_000) })
  const verdicts = await Promise.all(
    Array.from({ length: 400 }, (_, index) =>
      (index % 2 ? one : two).ledger.hold(one.attempt(key, 10)),
    ),
  )
  assert.equal(verdicts.filter((verdict) => verdict.kind === 'held').length, 100)
  assert.equal(verdicts.filter((verdict) => verdict.kind === 'short_balance').length, 300)
  const account = await findAccount(database.db, customerId)
  assert.equal(account?.heldNanoBrl, account?.balanceNanoBrl)
  await assertAudit()
})

test('a large call that does not fit does not delay a small one behind it that fits', async () => {
  const { key, customerId } = await seedCustomer(database.db, { balanceBrl: worth(10) })
  const verdicts = await one.inOneBatch(customerId, () =>
    [8, 5, 2].map((tokens) => one.ledger.hold(one.attempt(key, tokens))),
  )
  assert.deepEqual(
    verdicts.map((verdict) => verdict.kind),
    ['held', 'short_balance', 'held'],
  )
})

test('charges that use up the balance report it once, one by one or in one batch', async () => {
  for (const isBatch of [true, false]) {
    const { key, customerId } = await seedCustomer(database.db, { balanceBrl: worth(30) })
    const attempts = [10, 10, 10].map((tokens) => one.attempt(key, tokens))
    await Promise.all(attempts.map((attempt) => one.ledger.hold(attempt)))
    const resolve = (attempt: Attempt): Promise<unknown> =>
      one.ledger.resolve(one.charge(attempt, 10))
    if (isBatch) await one.inOneBatch(customerId, () => attempts.map(resolve))
    else for (const attempt of attempts) await resolve(attempt)
    const events = await database.db
      .selectFrom('events')
      .select('type')
      .where('customer_id', '=', customerId)
      .where('type', 'like', 'balance.%')
      .execute()
    assert.deepEqual(events, [{ type: 'balance.depleted' }])
  }
})

test('a settled hold cannot be settled or released again', async () => {
  const { key, customerId } = await seedCustomer(database.db, { balanceBrl: worth(100) })
  const attempt = one.attempt(key, 50)
  assert.equal((await one.ledger.hold(attempt)).kind, 'held')
  const again = [one, two, one].map((node) => node.ledger.resolve(one.charge(attempt, 20)))
  await Promise.all([...again, two.ledger.resolve(release(attempt, 'test'))])
  await one.ledger.resolve(release(attempt, 'test'))
  const account = await findAccount(database.db, customerId)
  assert.equal(account?.heldNanoBrl, 0n)
  const events = await database.db
    .selectFrom('usage_events')
    .selectAll()
    .where('id', '=', attempt.id)
    .execute()
  assert.equal(events.length, 1)
  assert.equal(account?.chargedNanoBrl, events[0]?.cost_billed_nano_brl)
  await assertAudit()
})

test('a released hold returns all of its money and charges nothing', async () => {
  const { key, customerId } = await seedCustomer(database.db, { balanceBrl: worth(100) })
  const attempt = one.attempt(key, 100)
  await one.ledger.hold(attempt)
  await one.ledger.resolve(release(attempt, 'connect_failed'))
  assert.deepEqual(
    await findAccount(database.db, customerId).then((a) => [a?.heldNanoBrl, a?.chargedNanoBrl]),
    [0n, 0n],
  )
  assert.equal((await one.ledger.hold(one.attempt(key, 100))).kind, 'held')
})

test('a charge above its hold is charged in full, leaves a debt, and blocks the next call', async () => {
  const { key, customerId } = await seedCustomer(database.db, { balanceBrl: worth(10) })
  const attempt = one.attempt(key, 10)
  await one.ledger.hold(attempt)
  await one.ledger.resolve(one.charge(attempt, 25))
  const account = await findAccount(database.db, customerId)
  assert.equal(account?.balanceNanoBrl, -15n * NANO_BRL_PER_TOKEN)
  assert.equal((await one.ledger.hold(one.attempt(key, 1))).kind, 'short_balance')
  await assertAudit()
})

test('a key that was just revoked cannot hold money on any node', async () => {
  const { key } = await seedCustomer(database.db, { balanceBrl: worth(100) })
  await revokeApiKey(database.db, key.id)
  assert.equal((await two.ledger.hold(two.attempt(key, 1))).kind, 'stale_key')
})

test('the requests of a key in a minute are counted exactly over two nodes', async () => {
  const { key } = await seedCustomer(database.db, {
    balanceBrl: worth(1_000),
    requestsPerMinute: 25,
  })
  await avoidMinuteEnd(4_000)
  const verdicts = await Promise.all(
    Array.from({ length: 60 }, (_, index) =>
      (index % 2 ? one : two).ledger.hold(one.attempt(key, 1)),
    ),
  )
  assert.equal(verdicts.filter((verdict) => verdict.kind === 'held').length, 25)
  assert.equal(verdicts.filter((verdict) => verdict.kind === 'key_limited').length, 35)
})

test('the requests of an address in a minute are counted exactly over customers and nodes, refused ones too', async () => {
  const first = await seedCustomer(database.db, { balanceBrl: worth(1_000) })
  const second = await seedCustomer(database.db, { balanceBrl: worth(1_000) })
  await avoidMinuteEnd(4_000)
  const asked = { ip: '198.51.100.9', ipLimit: 30 }
  await Promise.all(Array.from({ length: 10 }, () => two.ledger.count(asked)))
  const verdicts = await Promise.all(
    Array.from({ length: 60 }, (_, index) =>
      (index % 2 ? one : two).ledger.hold(
        one.attempt(index % 3 ? first.key : second.key, 1, asked),
      ),
    ),
  )
  assert.equal(verdicts.filter((verdict) => verdict.kind === 'held').length, 20)
})

test('the tokens of a minute are reserved at the hold and corrected at the settlement', async () => {
  const { key } = await seedCustomer(database.db, {
    balanceBrl: worth(1_000),
    tokensPerMinute: 100,
  })
  await avoidMinuteEnd(4_000)
  const first = one.attempt(key, 60)
  assert.equal((await one.ledger.hold(first)).kind, 'held')
  assert.equal((await two.ledger.hold(one.attempt(key, 60))).kind, 'tokens_limited')
  await one.ledger.resolve(one.charge(first, 10))
  assert.equal((await two.ledger.hold(one.attempt(key, 60))).kind, 'held')
})

test('the budget of a key is held and spent along with the balance', async () => {
  const { customerId } = await seedCustomer(database.db, { balanceBrl: worth(1_000) })
  // A token bills 2 micro-USD here.
  const { key } = await createApiKey(database.db, {
    customerId,
    name: 'com orçamento',
    requestsPerMinute: 1_000_000,
    budget: { limitPicoUsd: 200_000_000n, period: 'month' },
  })
  const attempts = Array.from({ length: 20 }, () => one.attempt(key, 10))
  const verdicts = await Promise.all(
    attempts.map((attempt, index) => (index % 2 ? one : two).ledger.hold(attempt)),
  )
  const held = attempts.filter((_, index) => verdicts[index]?.kind === 'held')
  assert.equal(held.length, 10)
  assert.equal(verdicts.filter((verdict) => verdict.kind === 'short_budget').length, 10)
  await Promise.all(held.map((attempt) => one.ledger.resolve(one.charge(attempt, 5))))
  const more = await Promise.all(
    Array.from({ length: 20 }, () => one.ledger.hold(one.attempt(key, 10))),
  )
  assert.equal(more.filter((verdict) => verdict.kind === 'held').length, 5)
  await assertAudit()
})

test('a credit with the same reference is posted once, and a debit never takes held money', async () => {
  const { key, customerId } = await seedCustomer(database.db, { balanceBrl: worth(10) })
  const reference = createId()
  const input = { customerId, amountNanoBrl: 5n * NANO_BRL_PER_TOKEN, reason: 'top_up', reference }
  const outcomes = await Promise.all(Array.from({ length: 8 }, () => credit(database.db, input)))
  assert.equal(outcomes.filter((outcome) => outcome.kind === 'posted').length, 1)
  await one.ledger.hold(one.attempt(key, 10))
  const take = (tokens: number) =>
    debit(database.db, {
      customerId,
      amountNanoBrl: BigInt(tokens) * NANO_BRL_PER_TOKEN,
      reason: 'refund',
      reference: createId(),
    })
  assert.equal((await take(6)).kind, 'short_balance')
  assert.equal((await take(5)).kind, 'posted')
  await assertAudit()
})

test('two nodes with many customers and overlapping locks neither deadlock nor lose a call', async () => {
  const customers = await Promise.all(
    Array.from({ length: 12 }, () => seedCustomer(database.db, { balanceBrl: worth(100_000) })),
  )
  const run = async (node: TestLedger, index: number): Promise<void> => {
    const { key } = customers[index % customers.length] as (typeof customers)[number]
    const attempt = node.attempt(key, 3, { ip: `192.0.2.${index % 5}` })
    assert.equal((await node.ledger.hold(attempt)).kind, 'held')
    assert.equal((await node.ledger.resolve(node.charge(attempt, 2))).kind, 'committed')
  }
  await Promise.all(
    Array.from({ length: 1_200 }, (_, index) => run(index % 2 ? one : two, index * 7)),
  )
  const { rows } = await sql<{ total: bigint }>`select count(*) as total from usage_events
    where customer_id = any(${customers.map((customer) => customer.customerId)}::uuid[])`.execute(
    database.db,
  )
  assert.equal(rows[0]?.total, 1_200n)
  await assertAudit()
})

test('for any order of holds, charges and releases the audit is clean and the sum of the charges is the change of the balance', async () => {
  const step = fc.record({
    act: fc.constantFrom('hold', 'charge', 'release', 'repeat'),
    tokens: fc.integer({ min: 1, max: 60 }),
    which: fc.nat(),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const { key, customerId } = await seedCustomer(database.db, { balanceBrl: worth(200) })
      const open: ReturnType<TestLedger['attempt']>[] = []
      let charged = 0n
      for (const { act, tokens, which } of steps) {
        const node = which % 2 ? one : two
        if (act === 'hold') {
          const attempt = node.attempt(key, tokens)
          if ((await node.ledger.hold(attempt)).kind === 'held') open.push(attempt)
        } else if (open.length > 0) {
          const attempt = open[which % open.length] as (typeof open)[number]
          const used = Math.min(tokens, Number(attempt.amountNanoBrl / NANO_BRL_PER_TOKEN))
          await node.ledger.resolve(
            act === 'release' ? release(attempt, 'test') : node.charge(attempt, used),
          )
          if (act === 'charge') charged += BigInt(used) * NANO_BRL_PER_TOKEN
          if (act === 'repeat') charged += BigInt(used) * NANO_BRL_PER_TOKEN
          if (act === 'repeat') await node.ledger.resolve(node.charge(attempt, used))
          open.splice(which % open.length, 1)
        }
      }
      const account = await findAccount(database.db, customerId)
      assert.equal(account?.balanceNanoBrl, 200n * NANO_BRL_PER_TOKEN - charged)
      assert.ok((account?.balanceNanoBrl ?? -1n) >= 0n)
      for (const attempt of open) await one.ledger.resolve(release(attempt, 'test'))
    }),
    { numRuns: 40 },
  )
  await assertAudit()
})
