// deep: generated schedules
/**
 * However often, late, out of order or concurrently a payment is reported: each top-up is credited once, by
 * our amount, and returned money is debited once.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from '../harness/fast-check.ts'
import { findAccount } from '../../src/money/ledger/entries.ts'
import { auditMoney } from '../../src/money/payments/audit-money.ts'
import { applyPayment } from '../../src/money/payments/apply-payment.ts'
import type { Payment, PaymentStatus } from '../../src/money/payments/processor.ts'
import {
  findTopUp,
  NANO_BRL_PER_CENTAVO,
  type TopUpStatus,
} from '../../src/money/payments/top-ups.ts'
import { effort, seedOr } from '../harness/effort.ts'
import { paymentInTest } from '../harness/payment.ts'
import { seedTopUp } from '../harness/seed-top-up.ts'
import { createTestDatabase, seedCustomer, type TestDatabase } from '../harness/test-database.ts'

const SEED = seedOr(20_261_121)
const SCHEDULES = effort({ ordinary: 200, full: 10_000 })
/** Schedules that run in parallel, each on a separate customer. */
const AT_ONCE = 8

let database: TestDatabase

before(async () => {
  database = await createTestDatabase()
})
after(() => database.drop())

/** The processor's view of a payment at one time. */
interface Truth {
  readonly status: PaymentStatus
  readonly hasBeenPaid: boolean
  readonly refundedCents: bigint
}

interface Schedule {
  readonly amountCents: bigint
  readonly truths: readonly Truth[]
  /** The reported states, in this order; the states of one group concurrently. */
  readonly reports: readonly (readonly number[])[]
  /** The payer pays a different amount than requested. */
  readonly isOtherAmount: boolean
}

const UNPAID: readonly PaymentStatus[] = ['pending', 'overdue', 'deleted', 'in_review', 'unknown']

/**
 * A payment's life: unpaid for a while, then perhaps paid, then perhaps refunded in steps or charged back.
 */
const schedule: fc.Arbitrary<Schedule> = fc
  .record({
    amountCents: fc.bigInt(1_000n, 500_000n),
    unpaid: fc.array(fc.constantFrom(...UNPAID), { minLength: 1, maxLength: 3 }),
    isPaid: fc.boolean(),
    refundSteps: fc.array(fc.bigInt(1n, 200_000n), { maxLength: 3 }),
    isChargedBack: fc.boolean(),
    isOtherAmount: fc.integer({ min: 0, max: 19 }).map((number) => number === 0),
  })
  .chain(({ amountCents, unpaid, isPaid, refundSteps, isChargedBack, isOtherAmount }) => {
    const truths: Truth[] = unpaid.map((status) => ({
      status,
      hasBeenPaid: false,
      refundedCents: 0n,
    }))
    if (isPaid) {
      truths.push({ status: 'received', hasBeenPaid: true, refundedCents: 0n })
      let refundedCents = 0n
      for (const step of refundSteps) {
        refundedCents = refundedCents + step > amountCents ? amountCents : refundedCents + step
        const status = refundedCents === amountCents ? 'refunded' : 'partially_refunded'
        truths.push({ status, hasBeenPaid: true, refundedCents })
      }
      if (isChargedBack) truths.push({ status: 'chargeback', hasBeenPaid: true, refundedCents })
    }
    const place = fc.integer({ min: 0, max: truths.length - 1 })
    return fc
      .array(fc.array(place, { minLength: 1, maxLength: 3 }), { maxLength: 3 })
      .map((reports) => ({ amountCents, truths, reports, isOtherAmount }))
  })

function paymentOf({ amountCents, isOtherAmount }: Schedule, id: string, truth: Truth): Payment {
  const order = { topUpId: id, amountCents: isOtherAmount ? amountCents + 1n : amountCents }
  return paymentInTest(order, truth)
}

/** Runs one schedule on the customer; returns the balance it must leave. */
async function runSchedule(customerId: string, one: Schedule): Promise<bigint> {
  const { db } = database
  const id = await seedTopUp(db, { customerId, cents: one.amountCents })
  for (const group of one.reports)
    await Promise.all(
      group.map((place) => applyPayment(db, id, paymentOf(one, id, one.truths[place] as Truth))),
    )
  const last = one.truths.at(-1) as Truth
  await applyPayment(db, id, paymentOf(one, id, last))

  const isCredited = last.hasBeenPaid && !one.isOtherAmount
  const returned = last.status === 'chargeback' ? one.amountCents : last.refundedCents
  const left = isCredited ? (one.amountCents - returned) * NANO_BRL_PER_CENTAVO : 0n
  const topUp = await findTopUp(db, customerId, id)
  assert.equal(topUp?.paidAt !== null, isCredited)
  if (isCredited) assert.equal(topUp?.status, statusOf(last))
  const entries = await db
    .selectFrom('ledger_entries')
    .select('amount_nano_brl')
    .where('reason', '=', 'top_up')
    .where('reference', '=', id)
    .execute()
  assert.deepEqual(
    entries.map((entry) => entry.amount_nano_brl),
    isCredited ? [one.amountCents * NANO_BRL_PER_CENTAVO] : [],
  )
  return left
}

/** The amount of a paid top-up. */
function statusOf({ status }: Truth): TopUpStatus {
  if (status === 'refunded' || status === 'partially_refunded') return status
  return status === 'chargeback' ? 'chargeback' : 'paid'
}

test(`${SCHEDULES} schedules by seed ${SEED}: every balance is what was paid and not returned`, async () => {
  const schedules = fc.sample(schedule, { numRuns: SCHEDULES, seed: SEED })
  await Promise.all(
    Array.from({ length: AT_ONCE }, async (_, lane) => {
      const { customerId } = await seedCustomer(database.db, { balanceBrl: '0' })
      let expected = 0n
      for (let index = lane; index < schedules.length; index += AT_ONCE)
        expected += await runSchedule(customerId, schedules[index] as Schedule)
      assert.equal((await findAccount(database.db, customerId))?.balanceNanoBrl, expected)
    }),
  )
  const report = await auditMoney(database.db)
  assert.deepEqual(
    report.checks.filter((check) => !check.ok),
    [],
  )
})
