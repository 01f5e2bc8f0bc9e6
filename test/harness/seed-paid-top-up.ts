import { sql } from 'kysely'
import type { Database } from '../../src/platform/db/open.ts'
import { applyPayment } from '../../src/money/payments/apply-payment.ts'
import type { Payment } from '../../src/money/payments/processor.ts'
import type { TopUpMethod } from '../../src/money/payments/top-ups.ts'
import { paymentInTest } from './payment.ts'
import { seedTopUp } from './seed-top-up.ts'

export interface PaidTopUp {
  readonly customerId: string
  readonly cents: number
  /** When it was paid. */
  readonly daysAgo?: number
  readonly method?: TopUpMethod
  /** The processor that knows of it from then on. */
  readonly processor?: {
    readonly id: string
    pay(topUpId: string, amountCents: bigint): Payment
  }
}

/** A top-up that was paid and credited; returns its id. */
export async function seedPaidTopUp(
  db: Database,
  { customerId, cents, daysAgo = 0, method = 'pix', processor }: PaidTopUp,
): Promise<string> {
  const amountCents = BigInt(cents)
  const id = await seedTopUp(db, {
    customerId,
    cents,
    method,
    ...(processor ? { processor: processor.id } : {}),
  })
  const payment = processor?.pay(id, amountCents) ?? paymentInTest({ topUpId: id, amountCents })
  await applyPayment(db, id, payment)
  await sql`
    update top_ups set paid_at = paid_at - make_interval(days => ${daysAgo}::int4) where id = ${id}`.execute(
    db,
  )
  return id
}
