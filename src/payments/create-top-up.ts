/**
 * Makes a top-up: our row first, then the payment at the processor, then what the customer pays with. An
 * answer that is lost on the way leaves a row that `sweep-top-ups.ts` looks after.
 */
import { sql } from 'kysely'
import type { Database } from '../db/open.ts'
import { createId } from '../lib/ids.ts'
import type { NanoBrl } from '../lib/money.ts'
import { learnOfPayment } from './learn-of-payment.ts'
import type { CreatePaymentOutcome, PayerDetails, Payment, Processor } from './processor.ts'
import { findTopUp, NANO_BRL_PER_CENTAVO, type TopUp, type TopUpMethod } from './top-ups.ts'

export interface TopUpInput {
  readonly customerId: string
  readonly payer: PayerDetails
  readonly amountNanoBrl: NanoBrl
  readonly method: TopUpMethod
}

export type CreatedTopUp =
  | { readonly kind: 'created'; readonly topUp: TopUp }
  /** The processor does not take the customer, or the payment; nothing will be paid by it. */
  | { readonly kind: 'refused'; readonly detail: string }
  /** Nobody can pay it yet; if a payment was made all the same, it is found and shown later. */
  | { readonly kind: 'unavailable' }

/** A Pix code is offered this long, and a boleto has these days. */
const DAYS_TO_PAY = { pix: 1, boleto: 3 } as const
const BRASILIA = 'America/Sao_Paulo'

export async function createTopUp(
  db: Database,
  processor: Processor,
  input: TopUpInput,
): Promise<CreatedTopUp> {
  const payerId = await ensurePayer(db, processor, input)
  if (typeof payerId !== 'string') return payerId
  const id = await insertTopUp(db, processor, input)
  const outcome = await processor.createPayment({
    ourId: id,
    processorCustomerId: payerId,
    method: input.method,
    amountCents: input.amountNanoBrl / NANO_BRL_PER_CENTAVO,
    dueDate: dayInBrasilia(DAYS_TO_PAY[input.method]),
    description: 'Recarga de saldo pré-pago',
  })
  const payment = paymentOf(outcome)
  if (payment === 'refused') {
    await endUnpaid(db, id)
    return { kind: 'refused', detail: 'detail' in outcome ? outcome.detail : outcome.kind }
  }
  if (payment === undefined) return { kind: 'unavailable' }
  await learnOfPayment(db, processor, id, payment)
  const topUp = (await findTopUp(db, input.customerId, id)) as TopUp
  return topUp.pix || topUp.boleto ? { kind: 'created', topUp } : { kind: 'unavailable' }
}

async function ensurePayer(
  db: Database,
  processor: Processor,
  { customerId, payer }: TopUpInput,
): Promise<string | Exclude<CreatedTopUp, { kind: 'created' }>> {
  const known = await db
    .selectFrom('processor_customers')
    .select('processor_customer_id')
    .where('customer_id', '=', customerId)
    .where('processor', '=', processor.id)
    .executeTakeFirst()
  const outcome = await processor.ensureCustomer(payer, known?.processor_customer_id)
  if (outcome.kind === 'unavailable') return { kind: 'unavailable' }
  if (outcome.kind !== 'customer') return { kind: 'refused', detail: outcome.detail }
  const { id } = outcome.customer
  await sql`
    insert into processor_customers (customer_id, processor, processor_customer_id)
    values (${customerId}, ${processor.id}, ${id})
    on conflict (customer_id, processor) do update set processor_customer_id = excluded.processor_customer_id`.execute(
    db,
  )
  return id
}

async function insertTopUp(
  db: Database,
  processor: Processor,
  { customerId, amountNanoBrl, method }: TopUpInput,
): Promise<string> {
  const id = createId()
  await db
    .insertInto('top_ups')
    .values({
      id,
      customer_id: customerId,
      amount_nano_brl: amountNanoBrl,
      method,
      processor: processor.id,
    })
    .execute()
  return id
}

/** Undefined where nobody knows whether there is one. */
function paymentOf(outcome: CreatePaymentOutcome): Payment | 'refused' | undefined {
  if (outcome.kind === 'payment') return outcome.payment
  if (outcome.kind !== 'unavailable') return 'refused'
  return outcome.mayHaveHappened ? undefined : 'refused'
}

async function endUnpaid(db: Database, id: string): Promise<void> {
  await db
    .updateTable('top_ups')
    .set({ status: 'failed' })
    .where('id', '=', id)
    .where('paid_at', 'is', null)
    .execute()
}

/** `YYYY-MM-DD`, so many days from today. */
function dayInBrasilia(days: number): string {
  const at = new Date(Date.now() + days * 86_400_000)
  return new Intl.DateTimeFormat('en-CA', { timeZone: BRASILIA }).format(at)
}
