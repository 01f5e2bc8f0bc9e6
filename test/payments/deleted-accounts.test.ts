/** Money that is under way when a customer deletes the account reaches its payer or an operator, and never stays there. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { OPERATOR } from '../../src/platform/audit-log/audited.ts'
import { readBacklog } from '../../src/platform/health/read-backlog.ts'
import { creditByHand } from '../../src/money/ledger/credit-by-hand.ts'
import { credit, findAccount } from '../../src/money/ledger/entries.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { createLog } from '../../src/platform/lib/log.ts'
import { auditMoney } from '../../src/money/payments/audit-money.ts'
import { applyPayment } from '../../src/money/payments/apply-payment.ts'
import type { Payment } from '../../src/money/payments/processor.ts'
import { endManualParts, rejectRefund } from '../../src/money/payments/refunds/decide-refund.ts'
import { processRefunds } from '../../src/money/payments/refunds/process-refunds.ts'
import { listRefunds } from '../../src/money/payments/refunds/refunds.ts'
import { requestRefund } from '../../src/money/payments/refunds/request-refund.ts'
import { deleteAccount } from '../../src/identity/personal-data/delete-account.ts'
import { assertAudit } from '../harness/assert-audit.ts'
import { seedPaidTopUp } from '../harness/seed-paid-top-up.ts'
import { seedTopUp } from '../harness/seed-top-up.ts'
import { createTestDatabase, seedCustomer, type TestDatabase } from '../harness/test-database.ts'
import { createModelProcessor, withRefunds } from './model-processor.ts'

const log = createLog('silent', () => {})
const processor = createModelProcessor()
const CENTAVO = 10_000_000n

let database: TestDatabase
before(async () => {
  database = await createTestDatabase()
})
after(() => database.drop())

async function seedPaid(cents: number, daysAgo: number) {
  const { customerId } = await seedCustomer(database.db, { balanceBrl: '0' })
  const id = await seedPaidTopUp(database.db, { customerId, cents, daysAgo, processor })
  return { customerId, id }
}

async function refund(customerId: string, reviewAboveNanoBrl: bigint) {
  const asked = await requestRefund(database.db, OPERATOR, {
    customerId,
    amountNanoBrl: undefined,
    topUpId: undefined,
    reason: undefined,
    reviewAboveNanoBrl,
  })
  assert.ok(asked.kind === 'requested')
  return asked.refund
}

const remove = (customerId: string) =>
  deleteAccount(database.db, OPERATOR, { customerId, waiveBalance: true })

async function runRefunds(): Promise<void> {
  await sql`update refund_parts set due_at = now() where status in ('waiting', 'sent')`.execute(
    database.db,
  )
  await processRefunds(database.db, processor, log)
}

/** What an operator has to pay out, that nothing stays in the account, and that the books are sound. */
async function owedAfter(customerId: string): Promise<number> {
  assert.equal((await findAccount(database.db, customerId))?.balanceNanoBrl, 0n)
  await assertAudit(database)
  return (await readBacklog(database.db, 60)).owedByDeletedAccounts
}

test('an account whose refund waits for an operator is deleted only after the answer', async () => {
  const { customerId } = await seedPaid(60_000, 10)
  const { id: refundId } = await refund(customerId, 0n)
  assert.equal((await remove(customerId)).kind, 'refund_in_review')
  await rejectRefund(database.db, OPERATOR, { refundId, note: 'não' })
  const deleted = await remove(customerId)
  assert.ok(deleted.kind === 'deleted')
  assert.equal(deleted.waivedNanoBrl, 60_000n * CENTAVO)
  assert.equal(await owedAfter(customerId), 0)
})

for (const method of ['pix', 'boleto'] as const)
  test(`a ${method} that is paid after the deletion goes back to its payer, once`, async () => {
    const { customerId } = await seedCustomer(database.db, { balanceBrl: '0' })
    const id = await seedTopUp(database.db, { customerId, cents: 5_000, method })
    assert.equal((await remove(customerId)).kind, 'deleted')
    const owed = await owedAfter(customerId)
    const payment = processor.pay(id, 5_000n)
    await Promise.all([1, 2, 3].map(() => applyPayment(database.db, id, payment)))
    await runRefunds()
    const refunds = await listRefunds(database.db, { customerId, limit: 10 })
    const isManual = method === 'boleto'
    assert.deepEqual(
      refunds.map(({ amount_nano_brl, status }) => [amount_nano_brl, status]),
      [[5_000n * CENTAVO, isManual ? 'approved' : 'done']],
    )
    assert.equal(await owedAfter(customerId), owed + (isManual ? 1 : 0))
    if (isManual) {
      await endManualParts(database.db, OPERATOR, { refundId: refunds[0]!.id, end: 'done' })
      assert.equal(await owedAfter(customerId), owed)
    }
  })

for (const end of ['refuses', 'cancels'] as const)
  test(`a refund that the processor ${end} after the deletion waits for an operator`, async () => {
    const { customerId, id } = await seedPaid(3_000, 0)
    const { id: refundId } = await refund(customerId, 0n)
    assert.equal((await remove(customerId)).kind, 'deleted')
    const owed = await owedAfter(customerId)
    processor.nextRefunds.push(end === 'refuses' ? 'not_refundable' : 'pending')
    await runRefunds()
    const payment = processor.payments.get(`pay_${id}`) as Payment
    if (end === 'cancels') {
      const refunds = payment.refunds.map((one) => ({ ...one, status: 'canceled' as const }))
      await applyPayment(database.db, id, withRefunds(payment, refunds))
      await applyPayment(database.db, id, withRefunds(payment, refunds))
    }
    assert.equal(await owedAfter(customerId), owed + 1)
    const decided = await endManualParts(database.db, OPERATOR, { refundId, end: 'done' })
    assert.equal(decided.kind, 'decided')
    assert.equal(await owedAfter(customerId), owed)
  })

test('whatever else is credited after the deletion leaves the account, names its cause and alarms the operator', async () => {
  const { db } = database
  const { customerId, id } = await seedPaid(5_000, 0)
  await refund(customerId, 0n)
  assert.equal((await remove(customerId)).kind, 'deleted')
  const owed = await owedAfter(customerId)
  // A person at the processor returns a part, so that the refund gives way, and its rest comes back.
  const payment = processor.payments.get(`pay_${id}`) as Payment
  const byHand = { status: 'done', amountCents: 4_000n, description: 'painel' } as const
  await applyPayment(db, id, withRefunds(payment, [byHand]))
  assert.equal(await owedAfter(customerId), owed + 1)
  const entry = { customerId, amountNanoBrl: 7n, reference: createId() }
  await creditByHand(db, OPERATOR, { ...entry, reason: 'adjustment' })
  assert.equal(await owedAfter(customerId), owed + 2)
  await creditByHand(db, OPERATOR, { ...entry, reason: 'promotion' })
  assert.equal(await owedAfter(customerId), owed + 3)
  const { rows } = await sql<{ reference: string }>`
    select reference from ledger_entries where customer_id = ${customerId} and reason = 'account_closed'
    order by created_at`.execute(db)
  assert.deepEqual(
    rows.slice(1).map(({ reference }) => reference),
    [`adjustment:${entry.reference}`, `promotion:${entry.reference}`],
  )
})

test('the audit finds money in the account of a deleted customer', async () => {
  const { db } = database
  const { customerId } = await seedCustomer(db, { balanceBrl: '0' })
  await credit(db, { customerId, amountNanoBrl: 5n, reason: 'adjustment', reference: createId() })
  await sql`update customers set deleted_at = now() where id = ${customerId}`.execute(db)
  const { checks } = await auditMoney(db)
  assert.deepEqual(
    checks.filter(({ ok }) => !ok).map(({ name }) => name),
    ['accounts of deleted customers keep no money'],
  )
})
