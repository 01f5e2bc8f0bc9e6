// deep: every loss of an event
/** News of the processor that get lost, or that it denies for a while, are found again. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { findAccount } from '../../src/money/ledger/entries.ts'
import { createLog } from '../../src/platform/lib/log.ts'
import type { Payment } from '../../src/money/payments/processor.ts'
import { sweepTopUps } from '../../src/money/payments/sweep-top-ups.ts'
import { handleEvents, takeEvent } from '../../src/money/payments/take-event.ts'
import { seedPaidTopUp } from '../harness/seed-paid-top-up.ts'
import { createTestDatabase, seedCustomer, type TestDatabase } from '../harness/test-database.ts'
import { createModelProcessor } from './model-processor.ts'

const processor = createModelProcessor()
const logged: string[] = []
const log = createLog('error', (line) => logged.push(line))

let database: TestDatabase
before(async () => {
  database = await createTestDatabase()
})
after(() => database.drop())

async function seedPaid(daysAgo = 0) {
  const { customerId } = await seedCustomer(database.db, { balanceBrl: '0' })
  const id = await seedPaidTopUp(database.db, { customerId, cents: 9_500, daysAgo, processor })
  return { customerId, payment: processor.payments.get(`pay_${id}`) as Payment }
}

async function balanceOf(customerId: string): Promise<bigint | undefined> {
  return (await findAccount(database.db, customerId))?.balanceNanoBrl
}

for (const type of ['PAYMENT_CHARGEBACK_REQUESTED', 'PAYMENT_REFUNDED', 'PAYMENT_RECEIVED'])
  test(`${type} of a payment that the processor does not know is asked about again, and alarms`, async () => {
    const { db } = database
    const { customerId, payment } = await seedPaid()
    processor.payments.delete(payment.id)
    const event = { eventId: type, type: 'other', processorType: type } as const
    await takeEvent(db, processor.id, { ...event, paymentId: payment.id, reference: undefined })
    const again = async (): Promise<void> => {
      await sql`update processor_events set due_at = now()`.execute(db)
      await handleEvents(db, processor, log)
    }
    logged.length = 0
    for (let times = 0; times < 6; times++) await again()
    assert.equal(logged.filter((line) => line.includes('payment_not_found')).length, 1)
    processor.payments.set(payment.id, { ...payment, status: 'chargeback' })
    await again()
    assert.equal(await balanceOf(customerId), 0n)
  })

test('an event of a payment that never appears ends after days, with an alarm', async () => {
  const { db } = database
  await takeEvent(db, processor.id, {
    eventId: 'never',
    type: 'other',
    processorType: 'PAYMENT_RECEIVED',
    paymentId: 'pay_never',
    reference: undefined,
  })
  await sql`update processor_events set due_at = now(), tries = 99 where event_id = 'never'`.execute(
    db,
  )
  logged.length = 0
  await handleEvents(db, processor, log)
  const { rows } = await sql<{ outcome: string }>`
    select outcome from processor_events where event_id = 'never'`.execute(db)
  assert.deepEqual(rows, [{ outcome: 'payment_not_found' }])
  assert.match(logged.join(), /payment_not_found/)
})

test('the sweeper finds the charge-back of a paid top-up without an event, rarer with its age, and alarms if it is unknown', async () => {
  const { db } = database
  const { customerId, payment } = await seedPaid(10)
  let asked = 0
  const counting = {
    ...processor,
    findPayment(id: string) {
      asked += id === payment.id ? 1 : 0
      return processor.findPayment(id)
    },
  }
  const passHours = (hours: number) =>
    sql`update top_ups set checked_at = checked_at - make_interval(hours => ${hours})
      where customer_id = ${customerId}`.execute(db)
  const sweep = async (): Promise<number> => {
    asked = 0
    await sweepTopUps(db, counting, log)
    return asked
  }
  assert.equal(await sweep(), 0)
  await passHours(2)
  assert.equal(await sweep(), 1)
  await passHours(5 * 24)
  assert.equal(await sweep(), 0)
  processor.payments.delete(payment.id)
  logged.length = 0
  await passHours(2)
  assert.equal(await sweep(), 1)
  assert.match(logged.join(), /payment_not_found/)
  processor.payments.set(payment.id, { ...payment, status: 'chargeback' })
  await passHours(6 * 24)
  assert.equal(await sweep(), 1)
  assert.equal(await balanceOf(customerId), 0n)
  await passHours(100 * 24)
  assert.equal(await sweep(), 0, 'a charge-back is final')
})
