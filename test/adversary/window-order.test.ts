/** One customer with a limit of tokens a minute mixes good and refused calls from one address: do the others wait? */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { createTestDatabase, seedCustomer, type TestDatabase } from '../harness/test-database.ts'
import { openTestLedger, worth } from '../ledger/open-test-ledger.ts'

let database: TestDatabase
before(async () => {
  database = await createTestDatabase()
})
after(() => database.drop())

const ROUND_MS = 8_000

test('D1 refused calls of one key do not lock up the lanes of others', async () => {
  const { db, databaseUrl } = database
  const attackers = await Promise.all(
    [1, 2, 3, 4].map(() => seedCustomer(db, { balanceBrl: worth(100_000_000), tokensPerMinute: 1_000_000_000 } as never)),
  )
  const victim = await seedCustomer(db, { balanceBrl: worth(100_000_000) })
  const nodes = [await openTestLedger(db, databaseUrl), await openTestLedger(db, databaseUrl)]

  async function measure(withCounts: boolean): Promise<{ calls: number; worstMs: number; unavailable: number; attackerUnavailable: number }> {
    const endAt = performance.now() + ROUND_MS
    let calls = 0
    let worstMs = 0
    let unavailable = 0
    let attackerUnavailable = 0
    const isOver = (): boolean => performance.now() >= endAt
    const attack = attackers.flatMap((attacker, place) =>
      nodes.flatMap((node) =>
        Array.from({ length: 4 }, async () => {
          while (!isOver()) {
            const hold = node.attempt(attacker.key, 1, { ip: `203.0.113.${place}` })
            const held = await node.ledger.hold(hold)
            if (held.kind === 'unavailable') attackerUnavailable += 1
            if (held.kind === 'held') await node.ledger.resolve(node.charge(hold, 1))
          }
        }),
      ),
    )
    const counts = !withCounts
      ? []
      : attackers.flatMap((attacker, place) =>
          nodes.flatMap((node) =>
            Array.from({ length: 8 }, async () => {
              while (!isOver())
                await node.ledger.count({
                  ip: `203.0.113.${place}`,
                  ipLimit: 1_000_000_000,
                  key: { id: attacker.key.id, requestsPerMinute: 1_000_000_000 },
                })
            }),
          ),
        )
    const victims = nodes.map(async (node) => {
      while (!isOver()) {
        const beganAt = performance.now()
        const hold = node.attempt(victim.key, 1, { ip: '198.51.100.9' })
        const held = await node.ledger.hold(hold)
        if (held.kind === 'held') await node.ledger.resolve(node.charge(hold, 1))
        else unavailable += 1
        calls += 1
        worstMs = Math.max(worstMs, performance.now() - beganAt)
      }
    })
    await Promise.all([...attack, ...counts, ...victims])
    return { calls, worstMs: Math.round(worstMs), unavailable, attackerUnavailable }
  }

  /** Transactions that were rolled back: a lock was not had in time, or a deadlock was lost. */
  async function rollbacks(): Promise<number> {
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    const { rows } = await sql<{ count: bigint }>`
      select xact_rollback as count from pg_stat_database where datname = current_database()`.execute(db)
    return Number(rows[0]?.count)
  }

  try {
    const before = await rollbacks()
    const quiet = await measure(false)
    const between = await rollbacks()
    const attacked = await measure(true)
    const rolledBack = { quiet: between - before, attacked: (await rollbacks()) - between }
    console.log('D1', { quiet, attacked, rolledBack })
    assert.equal(rolledBack.attacked, 0, 'windows and accounts are locked in one order')
    assert.equal(attacked.unavailable, 0)
    assert.ok(attacked.calls * 4 > quiet.calls, `${attacked.calls} calls in place of ${quiet.calls}`)
  } finally {
    for (const { ledger } of nodes) await ledger.close()
  }
})
