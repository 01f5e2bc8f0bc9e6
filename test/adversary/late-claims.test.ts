/** A node that was suspended for longer than its claim, and goes on after another node has claimed the same row. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { SYSTEM } from '../../src/audit-log/audited.ts'
import { createId } from '../../src/lib/ids.ts'
import { createLog } from '../../src/lib/log.ts'
import { NANO_PER_BRL } from '../../src/lib/money.ts'
import { findAutomaticTopUp, saveAutomaticTopUp } from '../../src/payments/automatic-top-ups.ts'
import { addPaymentMethod } from '../../src/payments/payment-methods.ts'
import type { FindPaymentOutcome, Payment, Processor } from '../../src/payments/processor.ts'
import { sweepTopUps } from '../../src/payments/sweep-top-ups.ts'
import { topUpAutomatically } from '../../src/payments/top-up-automatically.ts'
import { seedPayer } from '../harness/payer.ts'
import { startTestSandbox, type TestSandbox } from '../harness/sandbox-processor.ts'
import { createTestDatabase, type TestDatabase } from '../harness/test-database.ts'

const sealingKey = randomBytes(32)
const log = createLog('silent', () => {})

let database: TestDatabase
let sandbox: TestSandbox
before(async () => {
  database = await createTestDatabase()
  sandbox = await startTestSandbox()
})
after(async () => {
  await sandbox.close()
  await database.drop()
})

/** A card payment of BRL 20 that a job of ours started two hours ago, and that got no answer yet. */
async function seedUnanswered(paymentId: string | null): Promise<string> {
  const { db } = database
  const { customerId } = await seedPayer(db)
  const id = createId()
  await sql`
    insert into top_ups (id, customer_id, amount_nano_brl, method, processor, processor_payment_id, is_automatic,
      card_brand, card_last_four, created_at, checked_at)
    values (${id}, ${customerId}, ${20n * NANO_PER_BRL}, 'card', ${sandbox.processor.id}, ${paymentId}, true,
      'VISA', '4242', now() - interval '2 hours', now() - interval '1 hour')`.execute(db)
  return id
}

function payment(ourId: string, id: string, status: 'pending' | 'in_review'): Payment {
  return {
    id,
    ourId,
    processorCustomerId: undefined,
    method: 'card',
    status,
    processorStatus: status,
    hasBeenPaid: false,
    amountCents: 2_000n,
    netAmountCents: undefined,
    dueDate: undefined,
    refunds: [],
    refundedCents: 0n,
    card: undefined,
    pageUrl: undefined,
    boletoUrl: undefined,
    receiptUrl: undefined,
  }
}

/** What the first node reads reaches it after the second node has claimed the row, and recorded what it read. */
async function sweepTwice(
  id: string,
  early: FindPaymentOutcome,
  late: FindPaymentOutcome,
): Promise<{ status: string; canceled: string[] }> {
  const { db } = database
  const canceled: string[] = []
  const begun = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const answering = (outcome: FindPaymentOutcome, wait: () => Promise<void>): Processor => {
    const find = async () => {
      await wait()
      return outcome
    }
    return {
      ...sandbox.processor,
      findPayment: find,
      findPaymentByReference: find as Processor['findPaymentByReference'],
      async cancelPayment(paymentId) {
        canceled.push(paymentId)
        return { kind: 'canceled' }
      },
    }
  }
  const suspended = sweepTopUps(
    db,
    answering(early, async () => {
      begun.resolve()
      await gate.promise
    }),
    log,
  )
  await begun.promise
  await sql`update top_ups set checked_at = checked_at - interval '1 hour' where id = ${id}`.execute(
    db,
  )
  await sweepTopUps(
    db,
    answering(late, async () => {}),
    log,
  )
  gate.resolve()
  await suspended
  const { status } = await db
    .selectFrom('top_ups')
    .select('status')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return { status, canceled }
}

test('a payment that another node has found in review is not failed by a node that did not find it earlier', async () => {
  const id = await seedUnanswered(null)
  const found = payment(id, 'pay_1', 'in_review')
  assert.deepEqual(
    await sweepTwice(
      id,
      { kind: 'payment_not_found' },
      {
        kind: 'payment',
        payment: found,
      },
    ),
    { status: 'pending', canceled: [] },
  )
})

test('a payment that went into review is neither failed nor canceled for its older state', async () => {
  const id = await seedUnanswered('pay_2')
  const earlier = { kind: 'payment', payment: payment(id, 'pay_2', 'pending') } as const
  const later = { kind: 'payment', payment: payment(id, 'pay_2', 'in_review') } as const
  assert.deepEqual(await sweepTwice(id, earlier, later), { status: 'pending', canceled: [] })
})

test('a late refusal of the payer does not count against a setting that the customer saved since', async () => {
  const { db } = database
  const { customerId } = await seedPayer(db)
  const card = await addPaymentMethod(db, SYSTEM, sealingKey, {
    customerId,
    processorId: sandbox.processor.id,
    token: 'tok_1',
    brand: 'VISA',
    lastFour: '4242',
    holderName: 'M SOUZA',
    expiryMonth: 12,
    expiryYear: 2099,
  })
  const save = (amountNanoBrl: bigint) =>
    saveAutomaticTopUp(db, SYSTEM, {
      customerId,
      isEnabled: true,
      thresholdNanoBrl: 10n * NANO_PER_BRL,
      amountNanoBrl,
      paymentMethodId: card?.id ?? '',
      monthlyLimitNanoBrl: null,
      remoteIp: '203.0.113.7',
    })
  await save(20n * NANO_PER_BRL)
  const asked = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const processor: Processor = {
    ...sandbox.processor,
    async ensureCustomer() {
      asked.resolve()
      await gate.promise
      return { kind: 'refused', detail: 'no' } as unknown as Awaited<
        ReturnType<Processor['ensureCustomer']>
      >
    },
  }
  const run = topUpAutomatically(db, { processor, keys: { sealingKey }, log })
  await asked.promise
  await save(30n * NANO_PER_BRL)
  gate.resolve()
  await run
  assert.equal((await findAutomaticTopUp(db, customerId))?.failuresInRow, 0)
})
