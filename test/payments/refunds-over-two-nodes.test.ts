// deep: an attack
/** A refund that two nodes request, because the first of them was suspended for longer than its claim. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { SYSTEM } from '../../src/platform/audit-log/audited.ts'
import { findAccount } from '../../src/money/ledger/entries.ts'
import { createLog } from '../../src/platform/lib/log.ts'
import { applyPayment } from '../../src/money/payments/apply-payment.ts'
import { processRefunds } from '../../src/money/payments/refunds/process-refunds.ts'
import type { Processor } from '../../src/money/payments/processor.ts'
import { requestRefund } from '../../src/money/payments/refunds/request-refund.ts'
import { createTopUp } from '../../src/money/payments/create-top-up.ts'
import { findPayer } from '../../src/money/payments/payers.ts'
import { NANO_PER_BRL } from '../../src/platform/lib/money.ts'
import { assertAudit } from '../harness/assert-audit.ts'
import { seedPayer } from '../harness/payer.ts'
import { startTestSandbox, until, type TestSandbox } from '../harness/sandbox-processor.ts'
import { createTestDatabase, type TestDatabase } from '../harness/test-database.ts'

const log = createLog('silent', () => {})

let database: TestDatabase
let sandbox: TestSandbox
before(async () => {
  database = await createTestDatabase()
  sandbox = await startTestSandbox({ settleAfterMs: 60_000 })
})
after(async () => {
  await sandbox.close()
  await database.drop()
})

/** Paid by Pix; returns the way to read its payment. */
async function seedPaid(customerId: string) {
  const { db } = database
  const found = await findPayer(db, customerId)
  assert.ok(found.kind === 'payer')
  const made = await createTopUp(db, SYSTEM, sandbox.processor, {
    customerId,
    payer: found.payer,
    amountNanoBrl: 50n * NANO_PER_BRL,
    method: 'pix',
  })
  assert.ok(made.kind === 'created', made.kind)
  const { id, processorPaymentId } = made.topUp
  const read = async () => {
    const one = await sandbox.processor.findPayment(processorPaymentId ?? '')
    assert.ok(one.kind === 'payment', one.kind)
    return one.payment
  }
  await sandbox.act(processorPaymentId ?? '', 'pagar')
  await until(async () => (await read()).hasBeenPaid)
  await applyPayment(db, id, await read())
  return { id, read }
}

/** The whole refundable balance, or this amount. */
async function requestPart(customerId: string, amountNanoBrl?: bigint): Promise<void> {
  const asked = await requestRefund(database.db, SYSTEM, {
    customerId,
    amountNanoBrl,
    topUpId: undefined,
    reason: undefined,
    reviewAboveNanoBrl: 1_000n * NANO_PER_BRL,
  })
  assert.equal(asked.kind, 'requested')
}

test('money that one node returns to the payer does not come back to the balance by a late refusal of another node’s request', async () => {
  const { db } = database
  const { customerId } = await seedPayer(db)
  const paid = await seedPaid(customerId)
  await requestPart(customerId)

  const begun = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const suspended = processRefunds(
    db,
    {
      ...sandbox.processor,
      async refund(request) {
        begun.resolve()
        await gate.promise
        return sandbox.processor.refund(request)
      },
    },
    log,
  )
  await begun.promise
  await sql`update refund_parts set due_at = now()`.execute(db)
  await processRefunds(db, sandbox.processor, log)
  assert.equal((await paid.read()).status, 'refund_in_progress')
  gate.resolve()
  await suspended
  assert.equal((await findAccount(db, customerId))?.balanceNanoBrl, 0n)
  await applyPayment(db, paid.id, await paid.read())
  await assertAudit(database)
})

test('a node that was suspended while it recorded its request asks the processor for no refund', async () => {
  const { db } = database
  const { customerId } = await seedPayer(db)
  await seedPaid(customerId)
  await requestPart(customerId, 10n * NANO_PER_BRL)
  let asked = 0
  const counting: Processor = {
    ...sandbox.processor,
    refund(request) {
      asked += 1
      return sandbox.processor.refund(request)
    },
  }
  const trueNow = Date.now
  const begunAt = trueNow()
  // Each reading of the clock is two minutes later.
  let readings = 0
  Date.now = () => begunAt + 120_000 * readings++
  try {
    await processRefunds(db, counting, log)
  } finally {
    Date.now = trueNow
  }
  assert.equal(asked, 0)
  await sql`update refund_parts set due_at = now() where status = 'sent'`.execute(db)
  await processRefunds(db, counting, log)
  assert.equal(asked, 1)
})

test('a refund that is about to be requested is not claimed by another node', async () => {
  const { db } = database
  const { customerId } = await seedPayer(db)
  await seedPaid(customerId)
  await requestPart(customerId, 10n * NANO_PER_BRL)
  let asked = 0
  await processRefunds(
    db,
    {
      ...sandbox.processor,
      async findPayment(id) {
        // This node was suspended for longer than its claim, and nobody has claimed the part since.
        await sql`update refund_parts set due_at = now() - interval '1 second' where status = 'waiting'`.execute(
          db,
        )
        return sandbox.processor.findPayment(id)
      },
      async refund(request) {
        asked += 1
        if (asked === 1) await processRefunds(db, sandbox.processor, log)
        return sandbox.processor.refund(request)
      },
    },
    log,
  )
  const { rows } = await sql<{ tries: number }>`
    select p.tries from refund_parts p join refunds r on r.id = p.refund_id where r.customer_id = ${customerId}`.execute(
    db,
  )
  assert.deepEqual(rows, [{ tries: 1 }])
})
