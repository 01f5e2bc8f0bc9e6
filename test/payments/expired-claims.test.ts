// deep: an attack
/** A node that was suspended for longer than its claim, and goes on after another node has claimed the same row. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { SYSTEM } from '../../src/platform/audit-log/audited.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { createLog } from '../../src/platform/lib/log.ts'
import { NANO_PER_BRL } from '../../src/platform/lib/money.ts'
import { applyPayment } from '../../src/money/payments/apply-payment.ts'
import { createTopUp } from '../../src/money/payments/create-top-up.ts'
import { findPayer } from '../../src/money/payments/payers.ts'
import type { FindPaymentOutcome, Processor } from '../../src/money/payments/processor.ts'
import { sweepTopUps } from '../../src/money/payments/sweep-top-ups.ts'
import { handleEvents, takeEvent } from '../../src/money/payments/take-event.ts'
import { seedPayer } from '../harness/payer.ts'
import { paymentInTest } from '../harness/payment.ts'
import { startTestSandbox, type TestSandbox } from '../harness/sandbox-processor.ts'
import { createTestDatabase, type TestDatabase } from '../harness/test-database.ts'

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
async function seedUnanswered({ isFound }: { isFound: boolean }): Promise<string> {
  const { db } = database
  const { customerId } = await seedPayer(db)
  const id = createId()
  const paymentId = isFound ? `pay_${id}` : null
  await sql`
    insert into top_ups (id, customer_id, amount_nano_brl, method, processor, processor_payment_id, is_automatic,
      card_brand, card_last_four, created_at, checked_at)
    values (${id}, ${customerId}, ${20n * NANO_PER_BRL}, 'card', ${sandbox.processor.id}, ${paymentId}, true,
      'VISA', '4242', now() - interval '2 hours', now() - interval '1 hour')`.execute(db)
  return id
}

/** A card payment that the processor has not confirmed. */
function found(topUpId: string, status: 'pending' | 'in_review'): FindPaymentOutcome {
  const change = { method: 'card', status, hasBeenPaid: false } as const
  return { kind: 'payment', payment: paymentInTest({ topUpId, amountCents: 2_000n }, change) }
}

/**
 * The first node gets the answer `early` only after the second node has claimed the row, got the answer `late` and
 * recorded it.
 */
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
  return { status: await statusOf(id), canceled }
}

async function statusOf(id: string): Promise<string> {
  const { status } = await database.db
    .selectFrom('top_ups')
    .select('status')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return status
}

test('a payment that another node has found in review is not failed by a node that did not find it earlier', async () => {
  const id = await seedUnanswered({ isFound: false })
  assert.deepEqual(await sweepTwice(id, { kind: 'payment_not_found' }, found(id, 'in_review')), {
    status: 'pending',
    canceled: [],
  })
})

test('a payment that went into review is neither failed nor canceled for its older state', async () => {
  const id = await seedUnanswered({ isFound: true })
  assert.deepEqual(await sweepTwice(id, found(id, 'pending'), found(id, 'in_review')), {
    status: 'pending',
    canceled: [],
  })
})

/** Handles the event of a card payment; `meanwhile` runs between the processor's answer and its use. */
async function handleEventLate(
  id: string,
  answer: FindPaymentOutcome,
  meanwhile: () => Promise<unknown>,
): Promise<{ status: string; canceled: string[] }> {
  const { db } = database
  const canceled: string[] = []
  const processor: Processor = {
    ...sandbox.processor,
    async findPayment() {
      await meanwhile()
      return answer
    },
    async cancelPayment(paymentId) {
      canceled.push(paymentId)
      return { kind: 'canceled' }
    },
  }
  await takeEvent(db, processor.id, {
    eventId: `evt_${id}`,
    type: 'other',
    processorType: 'PAYMENT_CREATED',
    paymentId: `pay_${id}`,
    reference: id,
  })
  await handleEvents(db, processor, log)
  return { status: await statusOf(id), canceled }
}

test('an event that was read before a payment went into review neither fails nor cancels it', async () => {
  const id = await seedUnanswered({ isFound: true })
  const review = found(id, 'in_review')
  assert.ok(review.kind === 'payment')
  const ended = await handleEventLate(id, found(id, 'pending'), () =>
    applyPayment(database.db, id, review.payment),
  )
  assert.deepEqual(ended, { status: 'pending', canceled: [] })
})

test('whether an issuer’s time is over counts when the processor was asked, not when its answer is applied', async () => {
  const { db } = database
  const id = await seedUnanswered({ isFound: true })
  await sql`update top_ups set created_at = now() - interval '10 seconds', checked_at = now() - interval '10 seconds'
    where id = ${id}`.execute(db)
  const trueNow = Date.now
  const ended = await handleEventLate(id, found(id, 'pending'), async () => {
    // The node is suspended for ten minutes.
    Date.now = () => trueNow() + 600_000
  }).finally(() => (Date.now = trueNow))
  assert.deepEqual(ended, { status: 'pending', canceled: [] })
})

test('a card is not charged where the node was suspended between the row of the top-up and the request', async () => {
  const { db } = database
  const { customerId } = await seedPayer(db)
  const found = await findPayer(db, customerId)
  assert.ok(found.kind === 'payer')
  const trueNow = Date.now
  let asked = 0
  const made = await createTopUp(
    db,
    SYSTEM,
    {
      ...sandbox.processor,
      async createPayment(order) {
        asked += 1
        return sandbox.processor.createPayment(order)
      },
    },
    {
      customerId,
      payer: found.payer,
      amountNanoBrl: 20n * NANO_PER_BRL,
      method: 'pix',
      async isStillDue() {
        Date.now = () => trueNow() + 3_700_000
        return true
      },
    },
  ).finally(() => (Date.now = trueNow))
  assert.equal(made.kind, 'unavailable')
  assert.equal(asked, 0)
})
