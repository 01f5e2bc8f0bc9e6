import assert from 'node:assert/strict'
import { sql } from 'kysely'
import { SYSTEM } from '../../../src/platform/audit-log/audited.ts'
import { createTopUp } from '../../../src/money/payments/create-top-up.ts'
import { sweepTopUps } from '../../../src/money/payments/sweep-top-ups.ts'
import type { Act } from '../kill-between-steps.ts'
import { SILENT, topUpInput, type TopUpOrder } from '../perform.ts'
import type { World } from '../world.ts'
import {
  balanceOf,
  countEvents,
  paymentsOf,
  press,
  recoverPayments,
  seedPayer,
  topUpsOf,
} from './at-processor.ts'

const AMOUNT_CENTS = 5_025

export const createTopUpAct = (
  method: TopUpOrder['method'],
): Act<{ readonly order: TopUpOrder }> => ({
  name: 'create-top-up',
  stepsMin: 15,

  async prepare(world) {
    return { order: { customerId: await seedPayer(world), amountCents: AMOUNT_CENTS, method } }
  },

  recover: (world, { order }) => recoverPayments(world, order.customerId),

  async check(world, { order }) {
    const { customerId } = order
    const made = await checkOne(world, order)
    assert.equal(await balanceOf(world, customerId), 0n)
    for (const paymentId of made) await press(world, paymentId, 'pagar')
    await recoverPayments(world, customerId)
    const paid = BigInt(made.length * AMOUNT_CENTS)
    assert.equal(await balanceOf(world, customerId), paid)

    // The customer saw no answer and asks again.
    const again = await createTopUp(world.db, SYSTEM, world.processor, topUpInput(order))
    assert.ok(again.kind === 'created')
    await press(world, again.topUp.processorPaymentId as string, 'pagar')
    await recoverPayments(world, customerId)
    assert.equal(await balanceOf(world, customerId), paid + BigInt(AMOUNT_CENTS))
    const count = made.length + 1
    assert.deepEqual(await countEvents(world, customerId), {
      'topup.created': count,
      'topup.paid': count,
    })
    assert.equal(await countCustomersThere(world, customerId), 1)
  },
})

/**
 * The top-up shows its single payment, or the processor has none and the top-up fails. Returns the ids of the
 * payments.
 */
async function checkOne(world: World, { customerId, method }: TopUpOrder): Promise<string[]> {
  const [topUp, ...more] = await topUpsOf(world, customerId)
  assert.deepEqual(more, [])
  if (!topUp) return []
  const payments = await paymentsOf(world, topUp.id)
  assert.ok(payments.length <= 1, 'made once')
  const [payment] = payments
  if (payment) {
    assert.equal(topUp.status, 'pending')
    assert.equal(topUp.processor_payment_id, payment.id)
    assert.ok(method === 'pix' ? topUp.pix_payload : topUp.boleto_line, 'it can be paid')
    return [payment.id]
  }
  assert.equal(topUp.status, 'pending', 'it may still appear')
  await sql`
    update top_ups set created_at = now() - interval '2 hours', checked_at = now() - interval '1 hour'
    where id = ${topUp.id}`.execute(world.db)
  await sweepTopUps(world.db, world.processor, SILENT)
  assert.equal((await topUpsOf(world, customerId))[0]?.status, 'failed')
  return []
}

async function countCustomersThere({ access }: World, customerId: string): Promise<number> {
  const { baseUrl, apiKey } = access.asaas
  const answer = await fetch(`${baseUrl}/customers?externalReference=${customerId}`, {
    headers: { access_token: apiKey },
  })
  return ((await answer.json()) as { data: unknown[] }).data.length
}
