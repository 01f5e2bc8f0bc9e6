/**
 * Calls to the processor and the database that acts about payments share, and the actions of people at the
 * processor.
 */
import assert from 'node:assert/strict'
import { sql } from 'kysely'
import { SYSTEM } from '../../../src/platform/audit-log/audited.ts'
import { findAccount } from '../../../src/money/ledger/entries.ts'
import { createTopUp } from '../../../src/money/payments/create-top-up.ts'
import { sweepTopUps } from '../../../src/money/payments/sweep-top-ups.ts'
import { handleEvents } from '../../../src/money/payments/take-event.ts'
import type { Payment } from '../../../src/money/payments/processor.ts'
import { NANO_BRL_PER_CENTAVO } from '../../../src/money/payments/top-ups.ts'
import { seedCustomer } from '../../harness/test-database.ts'
import { SILENT, topUpInput } from '../perform.ts'
import type { World } from '../world.ts'

export async function seedPayer({ db }: World): Promise<string> {
  return (await seedCustomer(db, { balanceBrl: '0' })).customerId
}

/** Returns the id of the payment. */
export async function createPix(
  { db, processor }: World,
  customerId: string,
  amountCents: number,
): Promise<string> {
  const input = topUpInput({ customerId, amountCents, method: 'pix' })
  const created = await createTopUp(db, SYSTEM, processor, input)
  assert.ok(created.kind === 'created')
  return created.topUp.processorPaymentId as string
}

/** Presses a button on the payment's page. */
export async function press({ sandbox }: World, paymentId: string, act: string): Promise<void> {
  const answer = await fetch(sandbox.pageUrlOf(paymentId), {
    method: 'POST',
    body: new URLSearchParams({ acao: act }),
    redirect: 'manual',
  })
  assert.ok(answer.status < 400, `${act}: ${answer.status}`)
}

/**
 * Does the work that a killed process leaves to the workers of another node, as if its delays had passed: handles
 * events and looks for top-ups without an event, both at once.
 */
export async function recoverPayments(world: World, customerId: string): Promise<void> {
  const { db, processor, sandbox } = world
  await sandbox.webhooks.settled()
  await sql`update processor_events set due_at = now() where handled_at is null`.execute(db)
  await sql`
    update top_ups set checked_at = now() - interval '1 hour' where customer_id = ${customerId}`.execute(
    db,
  )
  await Promise.all([
    handleEvents(db, processor, SILENT),
    sweepTopUps(db, processor, SILENT),
    handleEvents(db, processor, SILENT),
  ])
}

/** Every payment that the processor has for the top-up, except deleted ones. */
export async function paymentsOf({ processor }: World, topUpId: string): Promise<Payment[]> {
  const found = await processor.findPaymentByReference(topUpId)
  assert.notEqual(found.kind, 'unavailable')
  return found.kind === 'payment' ? [found.payment, ...found.others] : []
}

export function topUpsOf({ db }: World, customerId: string) {
  return db.selectFrom('top_ups').selectAll().where('customer_id', '=', customerId).execute()
}

/** In centavos. */
export async function balanceOf({ db }: World, customerId: string): Promise<bigint> {
  const balance = (await findAccount(db, customerId))?.balanceNanoBrl ?? 0n
  assert.equal(balance % NANO_BRL_PER_CENTAVO, 0n)
  return balance / NANO_BRL_PER_CENTAVO
}

/** The number of the customer's events of each type. */
export async function countEvents(
  { db }: World,
  customerId: string,
): Promise<Record<string, number>> {
  const rows = await db
    .selectFrom('events')
    .select('type')
    .where('customer_id', '=', customerId)
    .execute()
  const counts: Record<string, number> = {}
  for (const { type } of rows) counts[type] = (counts[type] ?? 0) + 1
  return counts
}

/** Every event of the processor is handled. */
export async function assertEventsHandled({ db }: World): Promise<void> {
  const waiting = await db
    .selectFrom('processor_events')
    .selectAll()
    .where('handled_at', 'is', null)
    .execute()
  assert.deepEqual(waiting, [])
}
