/**
 * Refunds: only paid and unspent money is refunded, whoever requests it in parallel, and whatever the
 * processor does or omits.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { SYSTEM } from '../../src/platform/audit-log/audited.ts'
import { findAccount } from '../../src/money/ledger/entries.ts'
import { grantPromotion } from '../../src/money/ledger/promotions.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { createLog } from '../../src/platform/lib/log.ts'
import { NANO_PER_BRL } from '../../src/platform/lib/money.ts'
import { applyPayment } from '../../src/money/payments/apply-payment.ts'
import { createTopUp } from '../../src/money/payments/create-top-up.ts'
import type { Payment } from '../../src/money/payments/processor.ts'
import {
  approveRefund,
  endManualParts,
  rejectRefund,
} from '../../src/money/payments/refunds/decide-refund.ts'
import { processRefunds } from '../../src/money/payments/refunds/process-refunds.ts'
import { findRefundable } from '../../src/money/payments/refunds/refundable.ts'
import { findRefund } from '../../src/money/payments/refunds/refunds.ts'
import {
  requestRefund,
  type RequestedRefund,
} from '../../src/money/payments/refunds/request-refund.ts'
import { findTopUp } from '../../src/money/payments/top-ups.ts'
import { assertAudit } from '../harness/assert-audit.ts'
import { seedPaidTopUp } from '../harness/seed-paid-top-up.ts'
import { createTestDatabase, seedCustomer, type TestDatabase } from '../harness/test-database.ts'
import { NANO_BRL_PER_TOKEN, openTestLedger, type TestLedger } from '../harness/open-test-ledger.ts'
import { createModelProcessor, withRefunds } from './model-processor.ts'

const TOKENS_PER_BRL = Number(NANO_PER_BRL / NANO_BRL_PER_TOKEN)
const log = createLog('silent', () => {})
const processor = createModelProcessor()

let database: TestDatabase
let ledger: TestLedger

before(async () => {
  database = await createTestDatabase()
  ledger = await openTestLedger(database.db, database.databaseUrl)
})
after(async () => {
  await ledger.ledger.close()
  await database.drop()
})

const brl = (amount: number): bigint => BigInt(Math.round(amount * 100)) * (NANO_PER_BRL / 100n)

interface TopUpInTest {
  readonly amount: number
  readonly daysAgo?: number
  readonly method?: 'pix' | 'boleto'
}

/** A customer whose top-ups were paid, oldest first; the whole balance is paid money. */
async function seedPaid(...topUps: TopUpInTest[]) {
  const { customerId, key } = await seedCustomer(database.db, { balanceBrl: '0' })
  const ids: string[] = []
  for (const { amount, daysAgo = 0, method = 'pix' } of topUps) {
    const cents = Math.round(amount * 100)
    ids.push(await seedPaidTopUp(database.db, { customerId, cents, daysAgo, method, processor }))
  }
  return { customerId, key, ids }
}

type Seeded = Awaited<ReturnType<typeof seedPaid>>

async function spend({ key }: Pick<Seeded, 'key'>, amount: number): Promise<boolean> {
  const attempt = ledger.attempt(key, Math.round(amount * TOKENS_PER_BRL))
  if ((await ledger.ledger.hold(attempt)).kind !== 'held') return false
  await ledger.ledger.resolve(ledger.charge(attempt, Math.round(amount * TOKENS_PER_BRL)))
  return true
}

function ask(
  customerId: string,
  amount?: number,
  more: { topUpId?: string; reviewAbove?: number } = {},
): Promise<RequestedRefund> {
  return database.db.transaction().execute((trx) =>
    requestRefund(trx, SYSTEM, {
      customerId,
      amountNanoBrl: amount === undefined ? undefined : brl(amount),
      topUpId: more.topUpId,
      reason: undefined,
      reviewAboveNanoBrl: brl(more.reviewAbove ?? 500),
    }),
  )
}

/** Earlier tests may have left more parts than one run takes. */
async function runAllRefunds(): Promise<void> {
  for (let runs = 0; runs < 3; runs++) await runRefunds()
}

async function askAndExpectId(...input: Parameters<typeof ask>): Promise<string> {
  const asked = await ask(...input)
  assert.ok(asked.kind === 'requested')
  return asked.refund.id
}

/** Processes every part now, whatever it is waiting for. */
async function runRefunds(): Promise<void> {
  await sql`update refund_parts set due_at = now() where status in ('waiting', 'sent')`.execute(
    database.db,
  )
  await processRefunds(database.db, processor, log)
}

async function balanceOf(customerId: string): Promise<bigint | undefined> {
  return (await findAccount(database.db, customerId))?.balanceNanoBrl
}

async function statusOf(refundId: string): Promise<string | undefined> {
  return (await findRefund(database.db, refundId))?.status
}

async function eventTypes(customerId: string): Promise<string[]> {
  const rows = await database.db
    .selectFrom('events')
    .select('type')
    .where('customer_id', '=', customerId)
    .where('type', 'like', 'refund.%')
    .orderBy('created_at')
    .execute()
  return rows.map(({ type }) => type)
}

test('the money leaves the balance at the request, and the newest payment is refunded first', async () => {
  const paid = await seedPaid({ amount: 50, daysAgo: 20 }, { amount: 30, daysAgo: 10 })
  await spend(paid, 20)
  const refundId = await askAndExpectId(paid.customerId, 40)
  assert.equal(await balanceOf(paid.customerId), brl(20))
  const refund = await findRefund(database.db, refundId)
  assert.deepEqual(
    refund?.parts
      .map((part) => [paid.ids.indexOf(part.top_up_id), part.amount_nano_brl])
      .toSorted(),
    [
      [0, brl(10)],
      [1, brl(30)],
    ],
  )
  assert.equal(
    (await findTopUp(database.db, paid.customerId, paid.ids[1]!))?.status,
    'refund_pending',
  )
  await runRefunds()
  assert.equal(await statusOf(refundId), 'done')
  const topUps = await Promise.all(
    paid.ids.map((id) => findTopUp(database.db, paid.customerId, id)),
  )
  assert.deepEqual(
    topUps.map((topUp) => topUp?.status),
    ['partially_refunded', 'refunded'],
  )
  assert.equal(await balanceOf(paid.customerId), brl(20))
  assert.deepEqual(await eventTypes(paid.customerId), ['refund.requested', 'refund.completed'])
  await assertAudit(database)
})

test('within seven days the whole unspent part is refundable, even below the minimum; later the minimum applies', async () => {
  const fresh = await seedPaid({ amount: 20, daysAgo: 6 })
  await spend(fresh, 18.5)
  const refund = await findRefund(database.db, await askAndExpectId(fresh.customerId))
  assert.deepEqual([refund?.kind, refund?.amount_nano_brl], ['withdrawal', brl(1.5)])

  const old = await seedPaid({ amount: 20, daysAgo: 8 })
  await spend(old, 10)
  assert.equal((await ask(old.customerId, 4.99)).kind, 'below_minimum')
  assert.equal((await ask(old.customerId, 5)).kind, 'requested')
  // The rest is below the minimum, and old.
  await spend(old, 1)
  assert.equal((await ask(old.customerId)).kind, 'below_minimum')
  assert.equal(await balanceOf(old.customerId), brl(4))
})

test('a spent, held or promotional amount, or more than the payment, is not refunded', async () => {
  const paid = await seedPaid({ amount: 50 })
  const { customerId, key } = paid
  await grantPromotion(database.db, {
    customerId,
    amountNanoBrl: brl(15),
    reason: 'promotion',
    reference: createId(),
  })
  assert.equal((await ask(customerId, 50.01)).kind, 'not_refundable')
  // Promotional credit is spent first: after ten, five of it are left, and all of the paid money.
  await spend(paid, 10)
  assert.equal((await ask(customerId, 50.01)).kind, 'not_refundable')
  await spend(paid, 15)
  assert.equal(await balanceOf(customerId), brl(40))
  const attempt = ledger.attempt(key, 25 * TOKENS_PER_BRL)
  assert.equal((await ledger.ledger.hold(attempt)).kind, 'held')
  const asked = await ask(customerId, 15.01)
  assert.deepEqual(asked, { kind: 'not_refundable', refundableNanoBrl: brl(15) })
  assert.equal((await ask(customerId, 15)).kind, 'requested')
  // Money that is set aside for a refund cannot be spent.
  assert.equal(await spend(paid, 0.01), false)
  await ledger.ledger.resolve(ledger.charge(attempt, 25 * TOKENS_PER_BRL))
  await runRefunds()
  assert.equal(await balanceOf(customerId), 0n)
  await assertAudit(database)
})

test('fractions of a centavo are not refunded, and stay in the balance', async () => {
  const paid = await seedPaid({ amount: 20 })
  await spend(paid, 3.00001)
  const refund = await findRefund(database.db, await askAndExpectId(paid.customerId))
  assert.equal(refund?.amount_nano_brl, brl(16.99))
  await runRefunds()
  assert.equal(await balanceOf(paid.customerId), brl(0.01) - NANO_BRL_PER_TOKEN)
})

test('a refund of one top-up covers its unspent part', async () => {
  const paid = await seedPaid({ amount: 30 }, { amount: 20 })
  await spend(paid, 12)
  const topUpId = paid.ids[0]!
  assert.deepEqual(await ask(paid.customerId, 18.01, { topUpId }), {
    kind: 'not_refundable',
    refundableNanoBrl: brl(18),
  })
  assert.equal((await ask(paid.customerId, undefined, { topUpId })).kind, 'requested')
  const left = await findRefundable(database.db, paid.customerId)
  assert.deepEqual(
    left.map((part) => [part.topUpId, part.unspentNanoBrl]),
    [[paid.ids[1], brl(20)]],
  )
})

test('of concurrent refunds, calls and charge-backs, no more is refunded than was paid and is unspent', async () => {
  for (let round = 0; round < 6; round++) {
    const paid = await seedPaid({ amount: 30 }, { amount: 20 })
    const { customerId } = paid
    const [asked, spent] = await Promise.all([
      Promise.all(Array.from({ length: 6 }, () => ask(customerId, 12))),
      Promise.all(Array.from({ length: 12 }, () => spend(paid, 3))),
    ])
    const refunded = asked.filter(({ kind }) => kind === 'requested').length * 12
    const used = spent.filter(Boolean).length * 3
    assert.ok(refunded + used <= 50, `${refunded} + ${used}`)
    assert.equal(await balanceOf(customerId), brl(50 - refunded - used))
    // The payer charges one payment back while its refund is in progress.
    const id = paid.ids[round % 2] as string
    const chargeBack = async (): Promise<void> => {
      processor.changeAt(`pay_${id}`, { status: 'chargeback' })
      await applyPayment(database.db, id, processor.payments.get(`pay_${id}`) as Payment)
    }
    await Promise.all([runRefunds(), chargeBack(), runRefunds()])
    await runRefunds()
    const topUps = await Promise.all(paid.ids.map((one) => findTopUp(database.db, customerId, one)))
    const returned = topUps.reduce((sum, topUp) => sum + (topUp?.returnedNanoBrl ?? 0n), 0n)
    assert.equal(await balanceOf(customerId), brl(50 - used) - returned)
    for (const topUp of topUps)
      assert.ok(topUp && topUp.returnedNanoBrl <= topUp.amountNanoBrl && !topUp.refundingNanoBrl)
  }
  await assertAudit(database)
})

test('a refund whose answer was lost is found again, and not requested twice', async () => {
  const { customerId } = await seedPaid({ amount: 20 })
  const refundId = await askAndExpectId(customerId)
  processor.nextRefunds.push('lost')
  await runRefunds()
  assert.equal(await statusOf(refundId), 'processing')
  await runRefunds()
  assert.equal(await statusOf(refundId), 'done')
  assert.equal(processor.asked.filter((text) => text.includes(refundId)).length, 1)
  assert.equal(await balanceOf(customerId), 0n)
})

test('a refund that waits at the processor is done when the processor confirms it, and not before', async () => {
  const { customerId, ids } = await seedPaid({ amount: 20 })
  const refundId = await askAndExpectId(customerId)
  processor.nextRefunds.push('pending')
  await runRefunds()
  await runRefunds()
  assert.equal(await statusOf(refundId), 'processing')
  const payment = processor.payments.get(`pay_${ids[0]}`) as Payment
  const done = payment.refunds.map((refund) => ({ ...refund, status: 'done' as const }))
  await applyPayment(database.db, ids[0]!, withRefunds(payment, done))
  assert.equal(await statusOf(refundId), 'done')
  // An older report changes nothing.
  await applyPayment(database.db, ids[0]!, payment)
  assert.equal(await statusOf(refundId), 'done')
  assert.equal(await balanceOf(customerId), 0n)
})

test('a refund that the processor refuses or cancels returns the money to the balance, once', async () => {
  const refused = await seedPaid({ amount: 20 })
  const refundId = await askAndExpectId(refused.customerId)
  processor.nextRefunds.push('not_refundable')
  await runRefunds()
  assert.equal(await statusOf(refundId), 'failed')
  await runRefunds()
  assert.equal(await balanceOf(refused.customerId), brl(20))
  assert.deepEqual(await eventTypes(refused.customerId), ['refund.requested', 'refund.failed'])

  const canceled = await seedPaid({ amount: 20 })
  const other = await askAndExpectId(canceled.customerId)
  processor.nextRefunds.push('pending')
  await runRefunds()
  const payment = processor.payments.get(`pay_${canceled.ids[0]}`) as Payment
  const refunds = payment.refunds.map((refund) => ({ ...refund, status: 'canceled' as const }))
  processor.changeAt(payment.id, { refunds })
  await runRefunds()
  assert.equal(await statusOf(other), 'failed')
  assert.equal(await balanceOf(canceled.customerId), brl(20))
  await assertAudit(database)
})

test('a refund waits while the processor is unavailable or lacks funds, and is done later', async () => {
  const { customerId } = await seedPaid({ amount: 20 })
  const refundId = await askAndExpectId(customerId)
  processor.nextRefunds.push('unreached', 'short')
  await runRefunds()
  await runRefunds()
  assert.equal(await balanceOf(customerId), 0n)
  await runRefunds()
  assert.equal(await statusOf(refundId), 'done')
})

test('concurrent nodes request a refund from the processor once', async () => {
  const { customerId } = await seedPaid({ amount: 20 })
  const refundId = await askAndExpectId(customerId)
  await Promise.all([
    processRefunds(database.db, processor, log),
    processRefunds(database.db, processor, log),
    processRefunds(database.db, processor, log),
  ])
  assert.equal(processor.asked.filter((text) => text.includes(refundId)).length, 1)
})

test('a large refund of old top-ups waits for an operator; a withdrawal does not', async () => {
  const old = await seedPaid({ amount: 600, daysAgo: 30 })
  const refundId = await askAndExpectId(old.customerId, 550)
  await runRefunds()
  assert.equal(await statusOf(refundId), 'requested')
  const decisions = await Promise.all([
    approveRefund(database.db, SYSTEM, { refundId }),
    approveRefund(database.db, SYSTEM, { refundId }),
    rejectRefund(database.db, SYSTEM, { refundId, note: 'não' }),
  ])
  assert.equal(decisions.filter(({ kind }) => kind === 'decided').length, 1)

  const other = await seedPaid({ amount: 600, daysAgo: 30 })
  const rejected = await askAndExpectId(other.customerId, 550)
  assert.equal(
    (await rejectRefund(database.db, SYSTEM, { refundId: rejected, note: 'Documento ilegível' }))
      .kind,
    'decided',
  )
  assert.equal(
    (await approveRefund(database.db, SYSTEM, { refundId: rejected })).kind,
    'wrong_status',
  )
  assert.equal(await balanceOf(other.customerId), brl(600))
  assert.deepEqual(await eventTypes(other.customerId), ['refund.requested', 'refund.rejected'])

  const fresh = await seedPaid({ amount: 600 })
  const withdrawal = await askAndExpectId(fresh.customerId)
  assert.equal(await statusOf(withdrawal), 'approved')
  await assertAudit(database)
})

test('what a customer asks back in a day waits for an operator once its sum is large, also at once', async () => {
  const { customerId } = await seedPaid({ amount: 5_000, daysAgo: 30 })
  const ids = await Promise.all(Array.from({ length: 8 }, () => askAndExpectId(customerId, 200)))
  const statuses = await Promise.all(ids.map(statusOf))
  assert.deepEqual(statuses.map(String).toSorted(), [
    ...Array.from({ length: 2 }, () => 'approved'),
    ...Array.from({ length: 6 }, () => 'requested'),
  ])
  // A withdrawal does not wait for what was asked for before.
  const fresh = await seedPaidTopUp(database.db, { customerId, cents: 90_000, processor })
  assert.equal(
    await statusOf(await askAndExpectId(customerId, 900, { topUpId: fresh })),
    'approved',
  )
})

test('withdrawals have a fair limit of a day and a month, and the right of withdrawal is never refused', async () => {
  const { db } = database
  const { customerId } = await seedPaid({ amount: 50 })
  const topUp = (): Promise<{ kind: string }> =>
    createTopUp(db, SYSTEM, processor, {
      customerId,
      payer: { ourId: customerId, name: 'A', taxId: '52998224725', email: 'a@example.com' },
      amountNanoBrl: brl(20),
      method: 'pix',
    })
  // Three days of five withdrawals reach both limits.
  for (const hours of [25, 25, 31 * 24]) {
    for (let time = 0; time < 5; time++)
      assert.equal(await statusOf(await askAndExpectId(customerId, 0.01)), 'approved')
    assert.equal((await ask(customerId, 0.01)).kind, 'too_many_withdrawals')
    assert.equal((await topUp()).kind, 'too_many_withdrawals')
    await sql`update refunds set created_at = created_at - make_interval(hours => 25)
      where customer_id = ${customerId}`.execute(db)
    if (hours === 25) continue
    assert.equal((await topUp()).kind, 'too_many_withdrawals', 'fifteen in a month')
    await sql`update refunds set created_at = created_at - make_interval(hours => ${hours})
      where customer_id = ${customerId}`.execute(db)
  }
  assert.equal(await statusOf(await askAndExpectId(customerId, 0.01)), 'approved')
})

test('a withdrawal of all that is left is taken beyond the limit, and waits for an operator', async () => {
  const { customerId } = await seedPaid({ amount: 50 })
  for (let time = 0; time < 5; time++) await askAndExpectId(customerId, 0.01)
  const refund = await findRefund(database.db, await askAndExpectId(customerId))
  assert.deepEqual(
    [refund?.kind, refund?.status, refund?.amount_nano_brl],
    ['withdrawal', 'requested', brl(49.95)],
  )
  await runAllRefunds()
})

for (const listed of [1_900n, 2_000n, 2_100n])
  test(`our refund of 2000 that the processor lists with ${listed} is debited once, as listed`, async () => {
    const { customerId, ids } = await seedPaid({ amount: 50 })
    const refundId = await askAndExpectId(customerId, 20)
    processor.nextRefunds.push('pending')
    await runRefunds()
    const payment = processor.payments.get(`pay_${ids[0]}`) as Payment
    const [ours] = payment.refunds
    const done = withRefunds(payment, [{ ...ours!, status: 'done', amountCents: listed }])
    processor.payments.set(payment.id, done)
    await Promise.all([1, 2].map(() => applyPayment(database.db, ids[0]!, done)))
    await runRefunds()
    assert.equal(await balanceOf(customerId), (5_000n - listed) * (NANO_PER_BRL / 100n))
    assert.notEqual((await findRefund(database.db, refundId))?.ended_at, null)
    await assertAudit(database)
  })

test('a payment that the processor does not know at once is refunded when it knows it again', async () => {
  const { customerId, ids } = await seedPaid({ amount: 50 })
  const refundId = await askAndExpectId(customerId)
  const payment = processor.payments.get(`pay_${ids[0]}`) as Payment
  processor.payments.delete(payment.id)
  await runRefunds()
  await runRefunds()
  processor.payments.set(payment.id, payment)
  await runRefunds()
  assert.equal(await statusOf(refundId), 'done')
})

test('a refund that the processor cannot make is transferred by the operator, who confirms it once', async () => {
  const paid = await seedPaid({ amount: 20, method: 'boleto' }, { amount: 30, daysAgo: 100 })
  const refundId = await askAndExpectId(paid.customerId)
  await runRefunds()
  assert.equal(await statusOf(refundId), 'approved')
  const ends = await Promise.all([
    endManualParts(database.db, SYSTEM, { refundId, end: 'done' }),
    endManualParts(database.db, SYSTEM, { refundId, end: 'failed' }),
  ])
  assert.equal(ends.filter(({ kind }) => kind === 'decided').length, 1)
  const isDone = (await statusOf(refundId)) === 'done'
  assert.equal(await balanceOf(paid.customerId), isDone ? 0n : brl(50))
  await assertAudit(database)
})

test('another payment for a paid top-up does not change it', async () => {
  const { customerId, ids } = await seedPaid({ amount: 20 })
  const topUpId = ids[0] as string
  const other = { ...processor.payments.get(`pay_${topUpId}`), id: 'pay_other' } as Payment
  for (const payment of [
    other,
    withRefunds(other, [{ status: 'done', amountCents: 2_000n, description: 'em dobro' }]),
    { ...other, status: 'chargeback' as const },
  ]) {
    const applied = await applyPayment(database.db, topUpId, payment)
    assert.equal(applied.kind, 'other_payment')
  }
  const topUp = await findTopUp(database.db, customerId, topUpId)
  assert.deepEqual([topUp?.processorPaymentId, topUp?.status], [`pay_${topUpId}`, 'paid'])
  assert.equal(await balanceOf(customerId), brl(20))
})

test('a refund by hand at the processor is debited once, and replaces a refund in progress', async () => {
  const { customerId, ids } = await seedPaid({ amount: 50 })
  const refundId = await askAndExpectId(customerId, 30)
  const payment = processor.payments.get(`pay_${ids[0]}`) as Payment
  const byHand = withRefunds(payment, [
    { status: 'done', amountCents: 4_000n, description: 'painel' },
  ])
  processor.payments.set(payment.id, byHand)
  await applyPayment(database.db, ids[0]!, byHand)
  await applyPayment(database.db, ids[0]!, byHand)
  await runRefunds()
  assert.equal(await balanceOf(customerId), brl(10))
  const refund = await findRefund(database.db, refundId)
  assert.deepEqual(
    refund?.parts.map(({ status }) => status),
    ['taken'],
  )
  await assertAudit(database)
})
