import type { Updateable } from 'kysely'
import { isSuspended } from '../../customers/suspend-customer.ts'
import type { Database } from '../../platform/db/open.ts'
import type { Tables } from '../../platform/db/tables.ts'
import { recordEvent } from '../../platform/events/record-event.ts'
import { decimalBrl } from '../../platform/lib/money.ts'
import { applyPayment, type Applied } from './apply-payment.ts'
import type { AskedAt } from './ask-at.ts'
import type { Payment, Processor } from './processor.ts'
import type { TopUpMethod, TopUpStatus } from './top-ups.ts'

/**
 * Applies a payment that the creation, an event or the sweeper has read from the processor, and stores the Pix code or
 * the boleto if it is not stored yet. One of a suspended customer is cancelled instead: nobody is to pay it.
 */
export async function recordPayment(
  db: Database,
  processor: Processor,
  topUpId: string,
  payment: Payment,
  askedAt: AskedAt,
): Promise<Applied> {
  const applied = await applyPayment(db, topUpId, payment, askedAt)
  if (applied.kind === 'applied') {
    const { status, pix, boleto, method, customerId } = applied.topUp
    if (method === 'card') await endRefusedCard(processor, status, payment)
    // The processor's event, or the next read, ends the top-up. If it was paid meanwhile, it is credited.
    else if (status === 'pending' && (await isSuspended(db, customerId)))
      await processor.cancelPayment(payment.id)
    else if (status === 'pending' && !pix && !boleto)
      await describeTopUp(db, processor, topUpId, payment, method)
  }
  return applied
}

/** Cancels a refused payment, so that it cannot be paid on the processor's page. If it was paid meanwhile, an event comes. */
async function endRefusedCard(
  processor: Processor,
  status: TopUpStatus,
  payment: Payment,
): Promise<void> {
  const isOpen = payment.status === 'pending' || payment.status === 'overdue'
  if (status === 'failed' && isOpen) await processor.cancelPayment(payment.id)
}

/** If the processor has no code or line yet, the next call of `recordPayment` asks again. */
async function describeTopUp(
  db: Database,
  processor: Processor,
  id: string,
  payment: Payment,
  method: TopUpMethod,
): Promise<void> {
  const found =
    method === 'pix' ? await processor.pixCode(payment.id) : await processor.boleto(payment.id)
  const dueAt = endOfDayInBrasilia(payment.dueDate)
  if (found.kind === 'pix_code')
    await storeDescription(db, id, {
      pix_payload: found.payload,
      pix_qr_code_base64: found.qrCodeBase64,
      // A bank may take the code for a year longer, but the top-up expires with its due date.
      expires_at: dueAt && dueAt < found.expiresAt ? dueAt : found.expiresAt,
    })
  if (found.kind === 'boleto')
    await storeDescription(db, id, {
      boleto_url: found.url,
      boleto_line: found.line,
      ...(dueAt && { expires_at: dueAt }),
    })
}

/** The last second of a `YYYY-MM-DD` in Brasília, which has been UTC-3 all year since 2019. */
function endOfDayInBrasilia(day: string | undefined): Date | undefined {
  return day === undefined ? undefined : new Date(`${day}T23:59:59-03:00`)
}

type Description = Partial<
  Pick<
    Updateable<Tables['top_ups']>,
    'pix_payload' | 'pix_qr_code_base64' | 'expires_at' | 'boleto_url' | 'boleto_line'
  >
>

/** Stores it once, and writes the event that tells the customer how to pay. */
function storeDescription(db: Database, id: string, description: Description): Promise<void> {
  return db.transaction().execute(async (trx) => {
    const row = await trx
      .updateTable('top_ups')
      .set(description)
      .where('id', '=', id)
      .where('pix_payload', 'is', null)
      .where('boleto_line', 'is', null)
      .returningAll()
      .executeTakeFirst()
    if (!row) return
    const { customer_id: customerId, method, pix_payload, boleto_line, expires_at } = row
    await recordEvent(trx, {
      customerId,
      type: 'topup.created',
      data: {
        id,
        method,
        amount_brl: decimalBrl(row.amount_nano_brl),
        pix_payload,
        boleto_line,
        expires_at: expires_at?.toISOString() ?? null,
      },
    })
  })
}
