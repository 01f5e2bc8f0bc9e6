/** Who deletes the account is deleted at the payment processor too, however long that takes. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sql } from 'kysely'
import { OPERATOR } from '../../src/platform/audit-log/audited.ts'
import { createId } from '../../src/platform/lib/ids.ts'
import { createLog } from '../../src/platform/lib/log.ts'
import { ensurePayer, findPayer, removePayers } from '../../src/money/payments/payers.ts'
import type { Processor, RemoveCustomerOutcome } from '../../src/money/payments/processor.ts'
import { deleteAccount } from '../../src/identity/personal-data/delete-account.ts'
import { seedPayer } from '../harness/payer.ts'
import { orderOf, startTestSandbox } from '../harness/sandbox-processor.ts'
import { createTestDatabase } from '../harness/test-database.ts'

const database = await createTestDatabase()
const { db } = database
const under = await startTestSandbox()
after(async () => {
  await under.close()
  await database.drop()
})
const log = createLog('silent', () => {})

/** With an open Pix at the processor. */
async function addPayer() {
  const { customerId } = await seedPayer(db)
  const found = await findPayer(db, customerId)
  assert.ok(found.kind === 'payer')
  const ensured = await ensurePayer(db, under.processor, found.payer)
  assert.ok(ensured.kind === 'payer')
  const made = await under.processor.createPayment(orderOf(ensured.processorCustomerId))
  assert.ok(made.kind === 'payment')
  return { customerId, payer: found.payer, paymentId: made.payment.id, ...ensured }
}

async function deleteAccountOf(customerId: string): Promise<void> {
  const outcome = await deleteAccount(db, OPERATOR, { customerId, waiveBalance: true })
  assert.equal(outcome.kind, 'deleted')
}

async function waitingOf(customerId: string) {
  return db
    .selectFrom('payer_removals')
    .select('tries')
    .where('customer_id', '=', customerId)
    .execute()
}

/** All are due, whatever their last attempt was. */
async function removeAll(processor: Processor = under.processor): Promise<void> {
  await sql`update payer_removals set due_at = now()`.execute(db)
  await removePayers(db, processor, log)
}

function answering(outcome: RemoveCustomerOutcome): Processor {
  return { ...under.processor, id: 'asaas', removeCustomer: async () => outcome }
}

test('a deleted account is deleted at the processor, with its open payments', async () => {
  const { customerId, payer, paymentId, processorCustomerId } = await addPayer()
  const other = await addPayer()
  await deleteAccountOf(customerId)
  assert.deepEqual(await waitingOf(customerId), [{ tries: 0 }])
  await removeAll()
  assert.deepEqual(await waitingOf(customerId), [])
  const found = await under.processor.findPayment(paymentId)
  assert.equal(found.kind === 'payment' && found.payment.status, 'deleted')
  // The processor no longer knows the customer.
  const again = await under.processor.ensureCustomer(payer, processorCustomerId)
  assert.ok(again.kind === 'customer')
  assert.notEqual(again.customer.id, processorCustomerId)
  const kept = await under.processor.findPayment(other.paymentId)
  assert.equal(kept.kind === 'payment' && kept.payment.status, 'pending')
})

test('a processor that does not answer, or refuses, is asked again', async () => {
  const { customerId } = await addPayer()
  await deleteAccountOf(customerId)
  await removeAll(answering({ kind: 'unavailable', mayHaveHappened: true, detail: 'timeout' }))
  await removeAll(answering({ kind: 'refused', detail: 'agora não' }))
  assert.deepEqual(
    (await waitingOf(customerId)).map(({ tries }) => tries),
    [2],
  )
  await removePayers(db, under.processor, log)
  assert.equal((await waitingOf(customerId)).length, 1, 'it is not due yet')
  await removeAll()
  assert.deepEqual(await waitingOf(customerId), [])
})

test('a removal whose answer was lost is repeated without harm', async () => {
  const { customerId } = await addPayer()
  await deleteAccountOf(customerId)
  assert.deepEqual(await under.processor.removeCustomer(customerId), { kind: 'removed' })
  await removeAll()
  assert.deepEqual(await waitingOf(customerId), [])
})

test('an open refund to the payer comes first', async () => {
  const { customerId } = await addPayer()
  const id = createId()
  await sql`
    insert into refunds (id, customer_id, amount_nano_brl, kind, status)
    values (${id}, ${customerId}, 10000000000, 'request', 'processing')`.execute(db)
  await deleteAccountOf(customerId)
  await removeAll()
  assert.equal((await waitingOf(customerId)).length, 1)
  await sql`update refunds set status = 'done' where id = ${id}`.execute(db)
  await removeAll()
  assert.deepEqual(await waitingOf(customerId), [])
})
