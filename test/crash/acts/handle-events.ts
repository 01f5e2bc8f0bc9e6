import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Act } from '../kill-between-steps.ts'
import type { World } from '../world.ts'
import {
  assertEventsHandled,
  balanceOf,
  countEvents,
  createPix,
  press,
  recoverPayments,
  seedPayer,
  topUpsOf,
} from './at-processor.ts'

const AMOUNT_CENTS = 2_000

interface Prepared {
  readonly customerId: string
}

export const creditTopUpAct: Act<Prepared> = {
  name: 'handle-events',
  stepsMin: 12,
  async prepare(world) {
    const customerId = await seedPayer(world)
    await press(world, await createPix(world, customerId, AMOUNT_CENTS), 'pagar')
    await world.sandbox.webhooks.settled()
    return { customerId }
  },
  recover: (world, { customerId }) => recoverPayments(world, customerId),
  async check(world, { customerId }) {
    await assertEventsHandled(world)
    assert.equal(await balanceOf(world, customerId), BigInt(AMOUNT_CENTS))
    assert.deepEqual(await entriesOf(world, customerId), [['credit', 'top_up']])
    assert.equal((await topUpsOf(world, customerId))[0]?.status, 'paid')
    assert.deepEqual(await countEvents(world, customerId), { 'topup.created': 1, 'topup.paid': 1 })
  },
}

export const returnTopUpAct: Act<Prepared> = {
  name: 'handle-events',
  stepsMin: 12,
  async prepare(world) {
    const customerId = await seedPayer(world)
    const paymentId = await createPix(world, customerId, AMOUNT_CENTS)
    await press(world, paymentId, 'pagar')
    await recoverPayments(world, customerId)
    await press(world, paymentId, 'estornar')
    while ((await refundedCentsOf(world, paymentId)) === 0n) await sleep(50)
    await world.sandbox.webhooks.settled()
    return { customerId }
  },
  recover: (world, { customerId }) => recoverPayments(world, customerId),
  async check(world, { customerId }) {
    await assertEventsHandled(world)
    assert.equal(await balanceOf(world, customerId), 0n)
    assert.deepEqual(await entriesOf(world, customerId), [
      ['credit', 'top_up'],
      ['debit', 'top_up_returned'],
    ])
    const events = await countEvents(world, customerId)
    assert.deepEqual([events['topup.refunded'], events['balance.depleted']], [1, 1])
  },
}

async function refundedCentsOf({ processor }: World, paymentId: string): Promise<bigint> {
  const found = await processor.findPayment(paymentId)
  return found.kind === 'payment' ? found.payment.refundedCents : 0n
}

async function entriesOf({ db }: World, customerId: string): Promise<string[][]> {
  const rows = await db
    .selectFrom('ledger_entries')
    .select(['kind', 'reason'])
    .where('customer_id', '=', customerId)
    .orderBy('created_at')
    .execute()
  return rows.map(({ kind, reason }) => [kind, reason])
}
