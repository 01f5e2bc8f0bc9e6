/** A node that was suspended for longer than its claim, and goes on after another node has claimed the same row. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { createId } from '../../src/lib/ids.ts'
import { createLog } from '../../src/lib/log.ts'
import { NANO_PER_BRL } from '../../src/lib/money.ts'
import type { FindPaymentOutcome, Processor } from '../../src/payments/processor.ts'
import { sweepTopUps } from '../../src/payments/sweep-top-ups.ts'
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
  const { status } = await db
    .selectFrom('top_ups')
    .select('status')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return { status, canceled }
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
