// deep: generated schedules
/**
 * For any order and concurrency of payments, spending, refund requests, decisions, processor faults, refunds
 * by hand at the processor and charge-backs, the final balance is the paid amount, less the processor's
 * refunds, less the spending.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from '../harness/fast-check.ts'
import { sql } from 'kysely'
import { SYSTEM } from '../../src/platform/audit-log/audited.ts'
import { debit, findAccount } from '../../src/money/ledger/entries.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { createLog } from '../../src/platform/lib/log.ts'
import { applyPayment } from '../../src/money/payments/apply-payment.ts'
import type { Payment } from '../../src/money/payments/processor.ts'
import { approveRefund, rejectRefund } from '../../src/money/payments/refunds/decide-refund.ts'
import { processRefunds } from '../../src/money/payments/refunds/process-refunds.ts'
import { requestRefund } from '../../src/money/payments/refunds/request-refund.ts'
import { NANO_BRL_PER_CENTAVO } from '../../src/money/payments/top-ups.ts'
import { effort, seedOr } from '../harness/effort.ts'
import { seedPaidTopUp } from '../harness/seed-paid-top-up.ts'
import { createTestDatabase, seedCustomer, type TestDatabase } from '../harness/test-database.ts'
import { assertAudit } from '../harness/assert-audit.ts'
import { createModelProcessor, withRefunds, type ModelProcessor } from './model-processor.ts'

const SCHEDULES = effort({ ordinary: 60, full: 3_000 })
/** Schedules that run in parallel, each with a separate customer and processor. */
const AT_ONCE = 6
const SEED = seedOr(20_261_121)
const log = createLog('silent', () => {})

let database: TestDatabase
before(async () => {
  database = await createTestDatabase()
})
after(() => database.drop())

type Act =
  | { readonly kind: 'spend' | 'ask'; readonly cents: number }
  | { readonly kind: 'decide'; readonly isYes: boolean }
  | { readonly kind: 'process'; readonly next: ModelProcessor['nextRefunds'][number] }
  | { readonly kind: 'finish_pending'; readonly isDone: boolean }
  | { readonly kind: 'by_hand'; readonly place: number; readonly cents: number }
  | { readonly kind: 'charge_back' | 'report'; readonly place: number }

const cents = fc.integer({ min: 1, max: 9_000 })
const place = fc.nat({ max: 2 })
const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('spend' as const), cents }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('ask' as const), cents }) },
  fc.record({ kind: fc.constant('decide' as const), isYes: fc.boolean() }),
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('process' as const),
      next: fc.constantFrom(
        ...(['done', 'pending', 'lost', 'unreached', 'not_refundable', 'short'] as const),
      ),
    }),
  },
  fc.record({ kind: fc.constant('finish_pending' as const), isDone: fc.boolean() }),
  fc.record({ kind: fc.constant('by_hand' as const), place, cents }),
  fc.record({ kind: fc.constant('charge_back' as const), place }),
  fc.record({ kind: fc.constant('report' as const), place }),
)
const schedule = fc.record({
  paidCents: fc.array(fc.integer({ min: 1_000, max: 9_000 }), { minLength: 1, maxLength: 3 }),
  daysAgo: fc.constantFrom(0, 30),
  /** Steps of one group run in parallel. */
  groups: fc.array(fc.array(act, { minLength: 1, maxLength: 4 }), { maxLength: 6 }),
})

type Schedule = typeof schedule extends fc.Arbitrary<infer Value> ? Value : never

async function runSchedule(
  processor: ModelProcessor,
  { paidCents, daysAgo, groups }: Schedule,
): Promise<void> {
  const { db } = database
  processor.payments.clear()
  const { customerId } = await seedCustomer(db, { balanceBrl: '0' })
  const ids: string[] = []
  let spentCents = 0

  const paymentAt = (index: number): Payment =>
    processor.payments.get(`pay_${ids[index % ids.length]}`) as Payment
  const report = (payment: Payment) => applyPayment(db, payment.ourId as string, payment)

  for (const cents of paidCents)
    ids.push(await seedPaidTopUp(db, { customerId, cents, daysAgo, processor }))

  const runProcessor = async (): Promise<void> => {
    await sql`
      update refund_parts set due_at = now()
      where refund_id in (select id from refunds where customer_id = ${customerId})`.execute(db)
    await processRefunds(db, processor, log)
  }

  const perform = async (one: Act): Promise<void> => {
    switch (one.kind) {
      case 'spend': {
        const outcome = await debit(db, {
          customerId,
          amountNanoBrl: BigInt(one.cents) * NANO_BRL_PER_CENTAVO,
          reason: 'adjustment',
          reference: createId(),
        })
        if (outcome.kind === 'posted') spentCents += one.cents
        return
      }
      case 'ask':
        await db.transaction().execute((trx) =>
          requestRefund(trx, SYSTEM, {
            customerId,
            amountNanoBrl: BigInt(one.cents) * NANO_BRL_PER_CENTAVO,
            topUpId: undefined,
            reason: undefined,
            reviewAboveNanoBrl: 4_000n * NANO_BRL_PER_CENTAVO,
          }),
        )
        return
      case 'decide': {
        const { rows } = await sql<{ id: string }>`
          select id from refunds where customer_id = ${customerId} and status = 'requested'
          order by id limit 1`.execute(db)
        if (!rows[0]) return
        await (one.isYes
          ? approveRefund(db, SYSTEM, { refundId: rows[0].id })
          : rejectRefund(db, SYSTEM, { refundId: rows[0].id, note: 'não' }))
        return
      }
      case 'process':
        processor.nextRefunds.push(one.next)
        return runProcessor()
      case 'finish_pending':
        for (const payment of processor.payments.values())
          finishPending(processor, payment, one.isDone)
        return
      case 'by_hand': {
        const payment = paymentAt(one.place)
        const left = payment.amountCents - sumOf(payment)
        const amountCents = left < BigInt(one.cents) ? left : BigInt(one.cents)
        if (amountCents <= 0n || payment.status === 'chargeback') return
        const refund = { status: 'done', amountCents, description: 'painel' } as const
        processor.payments.set(payment.id, withRefunds(payment, [...payment.refunds, refund]))
        await report(paymentAt(one.place))
        return
      }
      case 'charge_back':
        processor.changeAt(paymentAt(one.place).id, { status: 'chargeback' })
        await report(paymentAt(one.place))
        return
      case 'report':
        await report(paymentAt(one.place))
    }
  }

  for (const group of groups) await Promise.all(group.map(perform))

  // Every refund ends: decided, sent, done, reported.
  const { rows } = await sql<{ id: string }>`
    select id from refunds where customer_id = ${customerId} and status = 'requested'`.execute(db)
  for (const { id } of rows) await approveRefund(db, SYSTEM, { refundId: id })
  processor.nextRefunds.length = 0
  for (let turn = 0; turn < 3; turn++) {
    await runProcessor()
    for (const payment of processor.payments.values()) finishPending(processor, payment, true)
  }
  for (const payment of processor.payments.values()) await report(payment)

  const backCents = [...processor.payments.values()].reduce(
    (sum, payment) =>
      sum + (payment.status === 'chargeback' ? payment.amountCents : payment.refundedCents),
    0n,
  )
  const paid = paidCents.reduce((sum, one) => sum + one, 0)
  const expected = (BigInt(paid - spentCents) - backCents) * NANO_BRL_PER_CENTAVO
  const account = await findAccount(db, customerId)
  const { rows: open } = await sql`
    select 1 from refunds where customer_id = ${customerId} and ended_at is null`.execute(db)
  assert.deepEqual([account?.balanceNanoBrl, open.length], [expected, 0])
  // Without a charge-back or a refund by hand at the processor, no customer has a debt.
  const isForced = groups.flat().some(({ kind }) => kind === 'charge_back' || kind === 'by_hand')
  if (!isForced) assert.ok(expected >= 0n)
}

function sumOf(payment: Payment): bigint {
  return payment.refunds
    .filter(({ status }) => status !== 'canceled')
    .reduce((sum, refund) => sum + refund.amountCents, 0n)
}

function finishPending(processor: ModelProcessor, payment: Payment, isDone: boolean): void {
  if (payment.status === 'chargeback') return
  const refunds = payment.refunds.map((refund) =>
    refund.status === 'pending'
      ? ({ ...refund, status: isDone ? 'done' : 'canceled' } as const)
      : refund,
  )
  processor.payments.set(payment.id, withRefunds(payment, refunds))
}

test(`${SCHEDULES} schedules of refunds by seed ${SEED}: the refunds paid out equal the debits of the balance`, async () => {
  const schedules = fc.sample(schedule, { numRuns: SCHEDULES, seed: SEED })
  await Promise.all(
    Array.from({ length: AT_ONCE }, async (_, lane) => {
      const processor = createModelProcessor(`model-${lane}`)
      for (let index = lane; index < SCHEDULES; index += AT_ONCE) {
        const one = schedules[index] as Schedule
        await runSchedule(processor, one).catch((cause: unknown) => {
          throw new Error(`schedule ${index}: ${JSON.stringify(one)}`, { cause })
        })
      }
    }),
  )
  await assertAudit(database)
})
