import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { processRefunds } from '../../../src/money/payments/refunds/process-refunds.ts'
import type { Act } from '../kill-between-steps.ts'
import { SILENT, type RefundOrder } from '../perform.ts'
import type { World } from '../world.ts'
import {
  balanceOf,
  countEvents,
  createPix,
  press,
  recoverPayments,
  seedPayer,
} from './at-processor.ts'

const PAID_CENTS = 2_000
const AMOUNT_CENTS = 800

interface Prepared {
  readonly order: RefundOrder
  readonly paymentId: string
}

/** The refund is requested and sent to the processor. */
export const refundAct: Act<Prepared> = {
  name: 'refund',
  stepsMin: 25,

  async prepare(world) {
    const customerId = await seedPayer(world)
    const paymentId = await createPix(world, customerId, PAID_CENTS)
    await press(world, paymentId, 'pagar')
    await recoverPayments(world, customerId)
    assert.equal(await balanceOf(world, customerId), BigInt(PAID_CENTS))
    return { order: { customerId, amountCents: AMOUNT_CENTS }, paymentId }
  },

  async recover(world, { order: { customerId } }) {
    for (const deadline = Date.now() + 30_000; ; await sleep(50)) {
      const open = await sql`
        update refund_parts set due_at = now() where status in ('waiting', 'sent')
        returning 1`.execute(world.db)
      await Promise.all([
        processRefunds(world.db, world.processor, SILENT),
        recoverPayments(world, customerId),
      ])
      if (open.rows.length === 0) return
      assert.ok(Date.now() < deadline, 'every part ends')
    }
  },

  async check(world, { order: { customerId }, paymentId }) {
    const { rows } = await sql<{ status: string }>`
      select status from refunds where customer_id = ${customerId}`.execute(world.db)
    const found = await world.processor.findPayment(paymentId)
    assert.ok(found.kind === 'payment')
    const { refunds } = found.payment
    const events = await countEvents(world, customerId)
    const ends = [events['refund.requested'], events['refund.completed'], events['topup.refunded']]
    if (rows.length === 0) {
      // The request was not committed.
      assert.deepEqual([refunds, ends], [[], [undefined, undefined, undefined]])
      return assert.equal(await balanceOf(world, customerId), BigInt(PAID_CENTS))
    }
    assert.deepEqual(rows, [{ status: 'done' }])
    assert.deepEqual(
      refunds.map(({ status, amountCents }) => [status, amountCents]),
      [['done', BigInt(AMOUNT_CENTS)]],
    )
    assert.deepEqual(ends, [1, 1, undefined])
    assert.equal(await balanceOf(world, customerId), BigInt(PAID_CENTS - AMOUNT_CENTS))
    await assertReturned(world, customerId)
  },
}

async function assertReturned({ db }: World, customerId: string): Promise<void> {
  const { rows } = await sql<{ returned: bigint; refunding: bigint }>`
    select returned_nano_brl as returned, refunding_nano_brl as refunding
    from top_ups where customer_id = ${customerId}`.execute(db)
  assert.deepEqual(rows, [{ returned: BigInt(AMOUNT_CENTS) * 10_000_000n, refunding: 0n }])
}
