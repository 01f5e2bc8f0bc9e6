/**
 * Our top-ups against the records of the processor, read over HTTP, whose events never arrive here: each kind
 * of difference is found, is one row, can be explained, and closes when it is settled.
 */
import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { sql } from 'kysely'
import { OPERATOR } from '../../src/platform/audit-log/audited.ts'
import { inTransaction } from '../../src/platform/db/open.ts'
import { findAccount } from '../../src/money/ledger/entries.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import type { Log, LogFacts } from '../../src/platform/lib/log.ts'
import { askAt } from '../../src/money/payments/ask-at.ts'
import { recordPayment } from '../../src/money/payments/record-payment.ts'
import type { Payment } from '../../src/money/payments/processor.ts'
import { NANO_BRL_PER_CENTAVO } from '../../src/money/payments/top-ups.ts'
import {
  explainDiscrepancy,
  recordFindings,
  type DiscrepancyRow,
} from '../../src/money/reconciliation/discrepancies.ts'
import { readReport } from '../../src/money/reconciliation/report.ts'
import { comparePayments } from '../../src/app/workers/compare-payments.ts'
import { seedTopUp } from '../harness/seed-top-up.ts'
import { createTestDatabase, seedCustomer } from '../harness/test-database.ts'
import { startTestSandbox, until } from '../harness/sandbox-processor.ts'

const AMOUNT_CENTS = 5_000n
const AMOUNT = AMOUNT_CENTS * NANO_BRL_PER_CENTAVO

const database = await createTestDatabase()
const { db } = database
const under = await startTestSandbox()
const { processor, sandbox } = under
after(async () => {
  await under.close()
  await database.drop()
})

let logged: { event: string; facts: LogFacts }[] = []
const note = (event: string, facts: LogFacts = {}): void => void logged.push({ event, facts })
const log: Log = { debug: note, info: note, warn: note, error: note }
beforeEach(() => {
  logged = []
})

interface TopUpInTest {
  readonly id: string
  readonly customerId: string
  readonly payment: Payment
}

/** Requested here and known to the processor, with the payment's id stored here. */
async function seedKnownTopUp(amountCents = AMOUNT_CENTS): Promise<TopUpInTest> {
  const { customerId } = await seedCustomer(db, { balanceBrl: '0' })
  const id = await seedTopUp(db, { customerId, cents: amountCents })
  const { outcome: payment, askedAt } = await askAt(db, () => under.createPix(amountCents, id))
  await recordPayment(db, processor, id, payment, askedAt)
  return { id, customerId, payment }
}

async function seedPaid(): Promise<TopUpInTest> {
  const topUp = await seedKnownTopUp()
  await under.act(topUp.payment.id, 'pagar')
  await reportPayment(topUp)
  return topUp
}

/** As an event would report it. */
async function reportPayment({ id, payment }: TopUpInTest): Promise<void> {
  const { outcome: found, askedAt } = await askAt(db, () => processor.findPayment(payment.id))
  assert.ok(found.kind === 'payment')
  await recordPayment(db, processor, id, found.payment, askedAt)
}

async function refundAtProcessor({ payment }: Pick<TopUpInTest, 'payment'>): Promise<void> {
  await under.act(payment.id, 'estornar')
  await until(async () => {
    const found = await processor.findPayment(payment.id)
    return found.kind === 'payment' && found.payment.refundedCents === found.payment.amountCents
  })
}

const compare = (now?: Date) => comparePayments({ db, processor, log }, now)

async function listOf(subject: string): Promise<DiscrepancyRow[]> {
  return db
    .selectFrom('reconciliation_discrepancies')
    .selectAll()
    .where('subject', '=', subject)
    .execute()
}

async function discrepancyOf(subject: string): Promise<DiscrepancyRow> {
  const rows = await listOf(subject)
  assert.equal(rows.length, 1, JSON.stringify(rows.map(({ kind }) => kind)))
  return rows[0] as DiscrepancyRow
}

const eventsOf = (event: string): LogFacts[] =>
  logged.filter((one) => one.event === event).map(({ facts }) => facts)

function change(id: string, columns: string): Promise<unknown> {
  return sql`update top_ups set ${sql.raw(columns)} where id = ${id}`.execute(db)
}

test('a payment whose event was lost is credited, reported as recovered, and no difference', async () => {
  const topUp = await seedKnownTopUp()
  await under.act(topUp.payment.id, 'pagar')
  const counts = await compare()
  assert.equal(counts.repaired, 1)
  assert.ok(counts.payments >= 1)
  assert.equal((await findAccount(db, topUp.customerId))?.balanceNanoBrl, AMOUNT)
  assert.deepEqual(eventsOf('top_up_repaired'), [
    { topUpId: topUp.id, paymentId: topUp.payment.id },
  ])
  assert.deepEqual(await listOf(`top_up:${topUp.id}`), [])
  assert.equal((await compare()).repaired, 0)
})

test('a payment without a top-up is found, and closed when it is refunded', async () => {
  const payment = await under.createPix(AMOUNT_CENTS, 'of a shop next door')
  const looksLikeOurs = await under.createPix(2_000n, createId())
  await compare()
  assert.deepEqual(await listOf(`payment:asaas:${payment.id}`), [], 'nobody has paid it')
  const alike = await discrepancyOf(`payment:asaas:${looksLikeOurs.id}`)
  assert.deepEqual([alike.kind, alike.status], ['payment_without_top_up', 'open'])
  await under.act(payment.id, 'pagar')
  await compare()
  const found = await discrepancyOf(`payment:asaas:${payment.id}`)
  assert.deepEqual(
    [found.kind, found.status, found.ours_nano_brl, found.theirs_nano_brl, found.top_up_id],
    ['payment_without_top_up', 'open', 0n, AMOUNT, null],
  )
  await refundAtProcessor({ payment })
  await processor.cancelPayment(looksLikeOurs.id)
  await compare()
  for (const { id } of [payment, looksLikeOurs]) {
    const gone = await discrepancyOf(`payment:asaas:${id}`)
    assert.equal(gone.status, 'gone')
    assert.ok(gone.resolved_at)
  }
})

test('a top-up that is paid here and not at the processor is found, even if the payment does not exist there', async () => {
  const [unpaid, deleted] = [await seedKnownTopUp(), await seedKnownTopUp()]
  for (const { id } of [unpaid, deleted]) await change(id, `paid_at = now(), status = 'paid'`)
  await change(deleted.id, `processor_payment_id = 'pay_that_is_not_there'`)
  await processor.cancelPayment(deleted.payment.id)
  await compare()
  for (const { id } of [unpaid, deleted]) {
    const found = await discrepancyOf(`top_up:${id}`)
    assert.deepEqual(
      [found.kind, found.status, found.ours_nano_brl, found.theirs_nano_brl, found.top_up_id],
      ['paid_here_only', 'open', AMOUNT, 0n, id],
    )
  }
  await under.act(unpaid.payment.id, 'pagar')
  await change(deleted.id, `paid_at = null, status = 'canceled'`)
  await compare()
  for (const { id } of [unpaid, deleted])
    assert.equal((await discrepancyOf(`top_up:${id}`)).status, 'gone')
})

test('a payment that cannot be credited stays open, and does not block the others', async () => {
  const stuck = await seedKnownTopUp()
  const other = await seedKnownTopUp()
  // Another entry has used its only reference in the ledger.
  const { customerId } = await seedCustomer(db, { balanceBrl: '0' })
  await sql`insert into ledger_entries (id, customer_id, kind, reason, amount_nano_brl, reference)
    values (${createId()}, ${customerId}, 'credit', 'top_up', 1, ${stuck.id})`.execute(db)
  for (const { payment } of [stuck, other]) await under.act(payment.id, 'pagar')
  await compare()
  const found = await discrepancyOf(`top_up:${stuck.id}`)
  assert.deepEqual(
    [found.kind, found.ours_nano_brl, found.theirs_nano_brl],
    ['paid_there_only', 0n, AMOUNT],
  )
  assert.equal((await findAccount(db, other.customerId))?.balanceNanoBrl, AMOUNT)
  await sql`delete from ledger_entries where reference = ${stuck.id}`.execute(db)
  await compare()
  assert.equal((await discrepancyOf(`top_up:${stuck.id}`)).status, 'gone')
  assert.equal((await findAccount(db, stuck.customerId))?.balanceNanoBrl, AMOUNT)
})

test('a payment of a different amount than requested is found, and credits nothing', async () => {
  const topUp = await seedKnownTopUp()
  await change(topUp.id, 'amount_nano_brl = amount_nano_brl * 2')
  await under.act(topUp.payment.id, 'pagar')
  await compare()
  const found = await discrepancyOf(`top_up:${topUp.id}`)
  assert.deepEqual(
    [found.kind, found.ours_nano_brl, found.theirs_nano_brl],
    ['amount_differs', 2n * AMOUNT, AMOUNT],
  )
  assert.equal((await findAccount(db, topUp.customerId))?.balanceNanoBrl, 0n)
  await change(topUp.id, 'amount_nano_brl = amount_nano_brl / 2')
  await compare()
  assert.equal((await discrepancyOf(`top_up:${topUp.id}`)).status, 'gone')
  assert.equal((await findAccount(db, topUp.customerId))?.balanceNanoBrl, AMOUNT)
})

test('returned money is debited from the balance, or reported when the amounts differ', async () => {
  const [refunded, chargedBack, wrong] = [await seedPaid(), await seedPaid(), await seedPaid()]
  await refundAtProcessor(refunded)
  await under.act(chargedBack.payment.id, 'contestar')
  await change(wrong.id, 'returned_nano_brl = amount_nano_brl')
  await compare()
  for (const { id, customerId } of [refunded, chargedBack]) {
    assert.deepEqual(await listOf(`top_up:${id}`), [])
    assert.equal((await findAccount(db, customerId))?.balanceNanoBrl, 0n)
  }
  const found = await discrepancyOf(`top_up:${wrong.id}`)
  assert.deepEqual(
    [found.kind, found.ours_nano_brl, found.theirs_nano_brl],
    ['returned_differs', AMOUNT, 0n],
  )
  await change(wrong.id, 'returned_nano_brl = 0')
  await compare()
  assert.equal((await discrepancyOf(`top_up:${wrong.id}`)).status, 'gone')
})

test('a top-up that was paid twice is found, and refunding one payment closes it without a debit', async () => {
  const topUp = await seedPaid()
  const second = await under.createPix(AMOUNT_CENTS, topUp.id)
  await compare()
  assert.deepEqual(await listOf(`top_up:${topUp.id}`), [], 'nobody has paid the second')
  await under.act(second.id, 'pagar')
  await compare()
  const found = await discrepancyOf(`top_up:${topUp.id}`)
  assert.deepEqual(
    [found.kind, found.ours_nano_brl, found.theirs_nano_brl],
    ['paid_twice', AMOUNT, 2n * AMOUNT],
  )
  await refundAtProcessor({ payment: second })
  await compare()
  assert.equal((await discrepancyOf(`top_up:${topUp.id}`)).status, 'gone')
  assert.equal((await findAccount(db, topUp.customerId))?.balanceNanoBrl, AMOUNT)
})

test('an explained difference stays so with the same amounts, opens again with others, and is checked for ever', async () => {
  const payment = await under.createPix(AMOUNT_CENTS, 'shop')
  await under.act(payment.id, 'pagar')
  await compare()
  const subject = `payment:asaas:${payment.id}`
  const { id } = await discrepancyOf(subject)
  const explain = { id, explanation: 'vendas da loja' }
  assert.equal((await explainDiscrepancy(db, OPERATOR, explain)).kind, 'explained')
  // Long after, when no list contains it any more.
  const nextYear = new Date(Date.now() + 500 * 86_400_000)
  await compare(nextYear)
  const kept = await discrepancyOf(subject)
  assert.deepEqual([kept.id, kept.status, kept.explanation], [id, 'explained', 'vendas da loja'])
  assert.equal(eventsOf('reconciliation_discrepancy_opened').length, 1)
  const refund = await processor.refund({
    paymentId: payment.id,
    amountCents: 1_000n,
    description: 'parte',
  })
  assert.equal(refund.kind, 'refund_accepted')
  await until(async () => {
    const found = await processor.findPayment(payment.id)
    return found.kind === 'payment' && found.payment.refundedCents === 1_000n
  })
  await compare(nextYear)
  const changed = await discrepancyOf(subject)
  assert.deepEqual(
    [changed.id, changed.status, changed.explanation, changed.theirs_nano_brl],
    [id, 'open', null, 4_000n * NANO_BRL_PER_CENTAVO],
  )
  assert.equal(eventsOf('reconciliation_discrepancy_opened').length, 2)
  assert.deepEqual(changed.first_seen_at, kept.first_seen_at)
  await refundAtProcessor({ payment })
  await compare(nextYear)
  assert.equal((await explainDiscrepancy(db, OPERATOR, explain)).kind, 'difference_gone')
  const unknown = { ...explain, id: createId() }
  assert.equal((await explainDiscrepancy(db, OPERATOR, unknown)).kind, 'difference_not_found')
})

test('nodes that compare concurrently create one row for a difference, and one of them reports it', async () => {
  const topUp = await seedKnownTopUp()
  await change(topUp.id, `paid_at = now(), status = 'paid'`)
  const lost = await seedKnownTopUp()
  await under.act(lost.payment.id, 'pagar')
  await Promise.all([compare(), compare(), compare()])
  assert.equal((await discrepancyOf(`top_up:${topUp.id}`)).status, 'open')
  const opened = eventsOf('reconciliation_discrepancy_opened')
  assert.equal(opened.filter(({ topUpId }) => topUpId === topUp.id).length, 1)
  assert.equal((await findAccount(db, lost.customerId))?.balanceNanoBrl, AMOUNT)
  // And if a difference reappears while both compare.
  const found = { subject: 'payment:asaas:pay_at_once' }
  const finding = { kind: 'payment_without_top_up', oursNanoBrl: 0n, theirsNanoBrl: 1n } as const
  for (const findings of [[], [finding], [], [finding]]) {
    logged = []
    await Promise.all([1, 2, 3].map(() => recordFindings(db, found, findings, log)))
    assert.ok(eventsOf('reconciliation_discrepancy_opened').length <= 1)
    assert.ok(eventsOf('reconciliation_discrepancy_gone').length <= 1)
  }
  assert.equal((await discrepancyOf(found.subject)).status, 'open')
  await recordFindings(db, found, [], log)
  // Also in the same microsecond, as within one transaction.
  logged = []
  await inTransaction(db, async (trx) => {
    await recordFindings(trx, found, [finding], log)
    await recordFindings(trx, found, [finding], log)
  })
  assert.equal(eventsOf('reconciliation_discrepancy_opened').length, 1)
  await recordFindings(db, found, [], log)
  await change(topUp.id, `paid_at = null, status = 'canceled'`)
})

test('a comparison that the processor interrupts is recorded as incomplete, and closes no difference', async () => {
  const topUp = await seedKnownTopUp()
  await change(topUp.id, `paid_at = now(), status = 'paid'`)
  await compare()
  const before = await readReport(db, 35)
  assert.equal(before.payments.is_current, true)
  assert.equal(before.payments.last_run?.failure, null)
  await change(topUp.id, `paid_at = null, status = 'canceled'`)
  for (const [endpoint, kind] of [
    ['GET /v3/payments', 'maintenance_200'],
    ['GET /v3/payments', 'cut'],
    ['GET /v3/payments/{id}', 'error_500'],
  ] as const) {
    logged = []
    await change(topUp.id, `processor_payment_id = 'pay_elsewhere'`)
    sandbox.failNext({ kind, endpoint, times: 3 })
    await assert.rejects(compare(), { name: 'ProcessorUnavailable' })
    const { payments, differences } = await readReport(db, 35)
    assert.match(payments.last_run?.failure ?? '', /^ProcessorUnavailable: /)
    assert.equal(payments.last_run?.finished_at, null)
    assert.deepEqual(payments.last_finished_at, before.payments.last_finished_at)
    assert.equal(differences.find(({ topup_id: id }) => id === topUp.id)?.status, 'open')
    assert.equal(eventsOf('payments_comparison_unfinished').length, 1)
  }
  await sql`update reconciliation_runs set finished_at = finished_at - interval '37 hours'`.execute(
    db,
  )
  assert.equal((await readReport(db, 35)).payments.is_current, false, 'a night was missed')
  await compare()
  assert.equal((await discrepancyOf(`top_up:${topUp.id}`)).status, 'gone')
})

test('records are read page by page to their end, by the day of their creation and of their payment', async () => {
  const payment = await under.createPix(1_000n, 'list')
  for (let lot = 0; lot < 8; lot += 1)
    await Promise.all(
      Array.from({ length: 13 }, (_, index) => under.createPix(1_000n, `list-${lot}-${index}`)),
    )
  await under.act(payment.id, 'pagar')
  const today = new Intl.DateTimeFormat('en-CA', { timeZone: 'America/Sao_Paulo' }).format()
  const listAll = async (by: 'created' | 'paid', day = today): Promise<string[]> => {
    const ids: string[] = []
    for (let page: string | undefined; ;) {
      const outcome = await processor.listPayments({ by, fromDay: day, toDay: day, page })
      assert.ok(outcome.kind === 'payments')
      assert.ok(outcome.payments.length <= 100)
      ids.push(...outcome.payments.map(({ id }) => id))
      page = outcome.nextPage
      if (page === undefined) return ids
    }
  }
  const created = await listAll('created')
  assert.ok(created.length >= 105)
  assert.equal(new Set(created).size, created.length)
  const paid = await listAll('paid')
  assert.ok(paid.includes(payment.id) && paid.length < created.length)
  assert.deepEqual(await listAll('created', '2020-01-01'), [])
})
