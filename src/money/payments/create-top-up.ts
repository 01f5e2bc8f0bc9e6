/**
 * Creates a top-up: first our row, then the payment at the processor, then the Pix code or boleto. A card is charged
 * at once. If the processor's answer is lost, the row stays and `sweep-top-ups.ts` finds the payment: no payment is
 * requested twice.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { audited, type Actor } from '../../platform/audit-log/audited.ts'
import { lockCustomer } from '../../customers/customers.ts'
import { isSuspended } from '../../customers/suspend-customer.ts'
import { limitAttempts, type Limit } from '../../platform/admission/attempts.ts'
import type { Database } from '../../platform/db/open.ts'
import { recordEvent } from '../../platform/events/record-event.ts'
import { dayInBrasilia } from '../../platform/lib/days.ts'
import { createId } from '../../platform/lib/ids.ts'
import { decimalBrl, type NanoBrl } from '../../platform/lib/money.ts'
import { askAt } from './ask-at.ts'
import { guardCards, type TooManyRefusals } from './card-attempts.ts'
import { ensurePayer, hideProcessorName } from './payers.ts'
import { failTopUp } from './fail-top-up.ts'
import { recordPayment } from './record-payment.ts'
import { hasWithdrawnOften } from './refunds/request-refund.ts'
import type { ChosenCard } from './payment-methods.ts'
import type { CreatePaymentOutcome, PayerDetails, PaymentOrder, Processor } from './processor.ts'
import { isTooLateToSend } from './is-too-late-to-send.ts'
import { findTopUp, NANO_BRL_PER_CENTAVO, type TopUp, type TopUpMethod } from './top-ups.ts'
import { isObject } from '../../platform/lib/is-object.ts'

/** The daily cap and the rules of pace in `sql/limit-card-charges.sql` allow no charge of a saved card now. */
interface CardLimitReached {
  readonly kind: 'card_limit_reached'
  readonly retryAfterSeconds: number
}

const CARD_LIMIT_REACHED = 'CC001'

/** Returns the limit that the error of an inserted top-up reports; any other error is thrown again. */
function asCardLimit(error: unknown): CardLimitReached {
  if (!isObject(error) || error['code'] !== CARD_LIMIT_REACHED) throw error
  return { kind: 'card_limit_reached', retryAfterSeconds: Number(error['detail']) }
}

export interface TopUpInput {
  /** Undefined: a new one. */
  readonly id?: string
  readonly customerId: string
  readonly payer: PayerDetails
  readonly amountNanoBrl: NanoBrl
  readonly method: TopUpMethod
  /** For the method `card`. `remoteIp` is the buyer's address, never the server's. */
  readonly card?:
    | (ChosenCard & { readonly remoteIp: string; readonly deviceId?: string | undefined })
    | undefined
  /** Started by the background job and not by a request of the customer. */
  readonly isAutomatic?: boolean
  /** Called in the transaction that stores the top-up. If it returns false, no top-up is stored and nothing is charged. */
  readonly isStillDue?: (trx: Database, topUpId: string) => Promise<boolean>
}

export type CreatedTopUp =
  | { readonly kind: 'created'; readonly topUp: TopUp }
  /** The processor refused the customer (no top-up exists then) or the payment. It cannot be paid any more. */
  | { readonly kind: 'refused'; readonly detail: string; readonly topUpId?: string }
  | { readonly kind: 'card_rejected'; readonly detail: string }
  | TooManyRefusals
  | CardLimitReached
  | { readonly kind: 'account_suspended' }
  /** Each one makes a payment at the processor, also if nobody pays it. */
  | { readonly kind: 'too_many_top_ups'; readonly retryAfterSeconds: number }
  | { readonly kind: 'too_many_withdrawals' }
  /** Another automatic top-up of the customer is in flight, or this one is no longer due. */
  | { readonly kind: 'in_flight' }
  /** It cannot be paid yet. With a `topUpId`, the payment may exist, and the sweeper will find it. */
  | { readonly kind: 'unavailable'; readonly topUpId?: string }

/** Days until the due date of a Pix code and of a boleto. A card is charged at once, but the processor requires a date. */
const DAYS_TO_PAY = { pix: 1, boleto: 3, card: 1 } as const
const DAY_MS = 86_400_000
const PACE_WAIT_MS = 10_000
const PACE_POLL_MS = 250
/**
 * The most top-ups of one customer by Pix and boleto in a day; cards and automatic top-ups have limits of their own.
 */
export const TOP_UPS_A_DAY: Limit = { max: 100, seconds: 86_400 }

/** This node, or the account, was suspended in between, and the processor was not asked. */
const TOO_LATE = { kind: 'unavailable', mayHaveHappened: false, detail: 'too late' } as const

export async function createTopUp(
  db: Database,
  actor: Actor,
  processor: Processor,
  input: TopUpInput,
): Promise<CreatedTopUp> {
  if (await hasWithdrawnOften(db, input.customerId)) return { kind: 'too_many_withdrawals' }
  if (!input.card && !input.isAutomatic) {
    const wait = await limitAttempts(db, `top-up of ${input.customerId}`, TOP_UPS_A_DAY)
    if (wait !== undefined) return { kind: 'too_many_top_ups', retryAfterSeconds: wait }
  }
  const make = (): Promise<CreatedTopUp> => makeTopUp(db, actor, processor, input)
  // Automatic top-ups have their own limits.
  return input.card && !input.isAutomatic
    ? guardCards(db, { ...input.card, customerId: input.customerId }, make)
    : make()
}

async function makeTopUp(
  db: Database,
  actor: Actor,
  processor: Processor,
  input: TopUpInput,
): Promise<CreatedTopUp> {
  const { customerId, method, card } = input
  const ensured = await ensurePayer(db, processor, input.payer)
  if (ensured.kind !== 'payer') return ensured
  const { id = createId() } = input
  const begunAtMs = Date.now()
  const inserted = await insertAtPace(db, input, () => insertTopUp(db, actor, processor, id, input))
  if (typeof inserted !== 'boolean') return inserted
  // The id is there already: a process that was taken for dead has resumed the same request.
  if (!inserted)
    return input.isAutomatic ? { kind: 'in_flight' } : { kind: 'unavailable', topUpId: id }
  const order: PaymentOrder = {
    ourId: id,
    processorCustomerId: ensured.processorCustomerId,
    method,
    amountCents: input.amountNanoBrl / NANO_BRL_PER_CENTAVO,
    dueDate: dayInBrasilia(new Date(Date.now() + DAYS_TO_PAY[method] * DAY_MS)),
    description: 'Recarga de saldo pré-pago',
    ...(card ? { cardToken: card.token, remoteIp: card.remoteIp } : {}),
  }
  const { outcome, askedAt } = await askAt(db, async () =>
    (await isSuspended(db, customerId)) || isTooLateToSend(begunAtMs)
      ? TOO_LATE
      : processor.createPayment(order),
  )
  if (outcome.kind !== 'payment') return endUnpaid(db, id, outcome)
  await recordPayment(db, processor, id, outcome.payment, askedAt)
  return asShown((await findTopUp(db, customerId, id)) as TopUp)
}

/**
 * Returns the outcome of a top-up that an earlier request began and did not answer; undefined if it did not get as far
 * as a row. The processor is asked for a payment that may exist, and no other one is created.
 */
export async function resumeTopUp(
  db: Database,
  processor: Processor,
  { customerId, id }: { customerId: string; id: string },
): Promise<CreatedTopUp | undefined> {
  const begun = await findTopUp(db, customerId, id)
  if (!begun) return undefined
  if (begun.status === 'pending' && begun.processorPaymentId === null) {
    const { outcome: found, askedAt } = await askAt(db, () => processor.findPaymentByReference(id))
    if (found.kind === 'payment') await recordPayment(db, processor, id, found.payment, askedAt)
  }
  const topUp = (await findTopUp(db, customerId, id)) as TopUp
  if (topUp.status !== 'failed') return asShown(topUp)
  return topUp.card
    ? { kind: 'card_rejected', detail: 'a cobrança no cartão não foi aprovada' }
    : { kind: 'unavailable' }
}

function asShown(topUp: TopUp): CreatedTopUp {
  const isCharged = topUp.card && topUp.processorPaymentId !== null
  return topUp.pix || topUp.boleto || isCharged
    ? { kind: 'created', topUp }
    : { kind: 'unavailable', topUpId: topUp.id }
}

/** A charge that runs counts, and one that is refused does not: waits a little for the running ones before it gives up. */
async function insertAtPace<Inserted>(
  db: Database,
  { customerId, isAutomatic = false }: TopUpInput,
  insert: () => Promise<Inserted>,
): Promise<Inserted | CardLimitReached> {
  let mayEnd = !isAutomatic
  for (const until = Date.now() + PACE_WAIT_MS; ; await sleep(PACE_POLL_MS)) {
    let limit: CardLimitReached
    try {
      return await insert()
    } catch (error) {
      limit = asCardLimit(error)
    }
    if (!mayEnd || Date.now() > until) return limit
    const running = await db
      .selectFrom('top_ups')
      .select('id')
      .where('customer_id', '=', customerId)
      .where('method', '=', 'card')
      .where('status', '=', 'pending')
      .executeTakeFirst()
    mayEnd = running !== undefined
  }
}

/** Returns false if another automatic top-up of the customer is in flight, or this one is no longer due. */
function insertTopUp(
  db: Database,
  actor: Actor,
  processor: Processor,
  id: string,
  { customerId, amountNanoBrl, method, card, isAutomatic = false, isStillDue }: TopUpInput,
): Promise<boolean | { kind: 'account_suspended' }> {
  return audited(db, actor, async (trx, record, undo) => {
    // A suspension waits for the row, or the row for the suspension.
    await lockCustomer(trx, customerId)
    if (await isSuspended(trx, customerId)) return { kind: 'account_suspended' }
    const { numInsertedOrUpdatedRows } = await trx
      .insertInto('top_ups')
      .values({
        id,
        customer_id: customerId,
        amount_nano_brl: amountNanoBrl,
        method,
        processor: processor.id,
        payment_method_id: card?.paymentMethodId ?? null,
        card_brand: card?.brand ?? null,
        card_last_four: card?.lastFour ?? null,
        is_automatic: isAutomatic,
      })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirst()
    if (numInsertedOrUpdatedRows !== 1n) return false
    if (isStillDue && !(await isStillDue(trx, id))) undo(false)
    const details = { method, amount_brl: decimalBrl(amountNanoBrl), is_automatic: isAutomatic }
    await record({ action: 'topup.created', customerId, subjectId: id, details })
    // For a Pix or a boleto, this event is written when its code or line is known.
    if (card)
      await recordEvent(trx, {
        customerId,
        type: 'topup.created',
        data: { id, method, amount_brl: decimalBrl(amountNanoBrl), is_automatic: isAutomatic },
      })
    return true
  })
}

/** Fails the top-up, unless the payment may exist: then the row stays pending for the sweeper. */
async function endUnpaid(
  db: Database,
  topUpId: string,
  outcome: Exclude<CreatePaymentOutcome, { kind: 'payment' }>,
): Promise<CreatedTopUp> {
  if (outcome.kind === 'unavailable') {
    if (outcome.mayHaveHappened) return { kind: 'unavailable', topUpId }
    await failTopUp(db, topUpId, { isRefused: false })
    return { kind: 'unavailable' }
  }
  await failTopUp(db, topUpId, { isRefused: true })
  const detail = hideProcessorName(outcome.detail)
  if (outcome.kind === 'declined') return { kind: 'card_rejected', detail }
  // The processor's own text contains the card token.
  if (outcome.kind === 'card_not_found')
    return { kind: 'card_rejected', detail: 'the card is not known any more: register it again' }
  return { kind: 'refused', detail, topUpId }
}
