import assert from 'node:assert/strict'
import { findFreePort } from '../../harness/find-free-port.ts'
import type { Act } from '../kill-between-steps.ts'
import {
  balanceOf,
  countEvents,
  createPix,
  press,
  recoverPayments,
  seedPayer,
} from './at-processor.ts'

const AMOUNT_CENTS = 2_000

/**
 * The process that is killed is the server that receives the processor's events: the processor repeats unanswered
 * events.
 */
export const takeEventAct: Act<{
  readonly customerId: string
  readonly paymentId: string
  readonly port: number
}> = {
  name: 'take-event',
  stepsMin: 4,

  async prepare(world) {
    const { sandbox, inbound } = world
    const port = await findFreePort()
    sandbox.sendWebhooksTo({
      ...inbound,
      url: `http://127.0.0.1:${port}/v1/inbound/payments/asaas`,
    })
    const customerId = await seedPayer(world)
    const paymentId = await createPix(world, customerId, AMOUNT_CENTS)
    await press(world, paymentId, 'pagar')
    return { customerId, paymentId, port }
  },

  recover(world, { customerId }) {
    world.sandbox.sendWebhooksTo(world.inbound)
    world.sandbox.webhooks.resume()
    return recoverPayments(world, customerId)
  },

  async check(world, { customerId, paymentId }) {
    assert.equal(world.sandbox.webhooks.waiting, 0)
    const stored = await world.db
      .selectFrom('processor_events')
      .select(['type', 'outcome'])
      .where('processor_payment_id', '=', paymentId)
      .orderBy('received_at')
      .execute()
    assert.deepEqual(stored, [
      { type: 'PAYMENT_CREATED', outcome: 'applied' },
      { type: 'PAYMENT_RECEIVED', outcome: 'applied' },
    ])
    assert.equal(await balanceOf(world, customerId), BigInt(AMOUNT_CENTS))
    assert.equal((await countEvents(world, customerId))['topup.paid'], 1)
  },
}
