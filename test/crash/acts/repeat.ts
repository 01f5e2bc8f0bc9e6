/** Requests with an `Idempotency-Key`: the client saw no answer and repeats them. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { sha256 } from '../../../src/platform/lib/ids.ts'
import { seedCustomer } from '../../harness/test-database.ts'
import type { Act } from '../kill-between-steps.ts'
import { keyOnce, topUpOnce, type TopUpOrder } from '../perform.ts'
import type { World } from '../world.ts'
import { paymentsOf, recoverPayments, seedPayer, topUpsOf } from './at-processor.ts'

export const repeatTopUpAct: Act<{ readonly order: TopUpOrder; readonly key: string }> = {
  name: 'repeat-top-up',
  stepsMin: 18,

  async prepare(world) {
    const customerId = await seedPayer(world)
    return { order: { customerId, amountCents: 5_025, method: 'pix' }, key: randomUUID() }
  },

  recover: (world, { order }) => endClaims(world, order.customerId),

  async check(world, { order, key }) {
    const repeat = () => topUpOnce(world, order, key)
    const first = await repeat().catch((error: unknown) => error)
    const [topUp, ...more] = await topUpsOf(world, order.customerId)
    assert.ok(topUp)
    assert.deepEqual(more, [], 'one top-up, however often it is requested')
    const payments = await paymentsOf(world, topUp.id)
    assert.ok(payments.length <= 1, 'one payment')
    if (payments.length === 0) {
      // Its creation may still appear at the processor, so nothing else is created, and the sweeper ends it.
      assert.equal((first as Error).message, 'unavailable')
      return
    }
    await recoverPayments(world, order.customerId)
    const outcomes = [await repeat(), await repeat()]
    for (const outcome of outcomes)
      assert.ok('answer' in outcome && outcome.answer?.body === topUp.id, JSON.stringify(outcome))
    assert.equal(outcomes[1]?.kind, 'repeated')
  },
}

export const repeatKeyAct: Act<{ readonly customerId: string; readonly key: string }> = {
  name: 'repeat-key',
  stepsMin: 6,

  async prepare({ db }) {
    const { customerId } = await seedCustomer(db, { balanceBrl: '0' })
    return { customerId, key: randomUUID() }
  },

  recover: () => Promise.resolve(),

  async check({ db }, given) {
    const first = await keyOnce(db, given)
    const again = await keyOnce(db, given)
    assert.ok('answer' in first && first.answer && again.kind === 'repeated')
    assert.deepEqual(again.answer, first.answer)
    const keys = await db
      .selectFrom('api_keys')
      .select('secret_hash')
      .where('customer_id', '=', given.customerId)
      .where('name', '=', 'repetida')
      .execute()
    assert.deepEqual(
      keys.map(({ secret_hash }) => secret_hash),
      [sha256(first.answer.body)],
    )
  },
}

/** The time that a claim of a killed process lasts has passed. */
async function endClaims({ db }: World, customerId: string): Promise<void> {
  await sql`update idempotency_keys set running_until = now()
    where customer_id = ${customerId} and running_until is not null`.execute(db)
}
