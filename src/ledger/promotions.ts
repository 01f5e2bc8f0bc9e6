/**
 * Credit that nobody paid for: it is spent first and never refunded. The account holds what was left of it
 * at a known sum of charges, so that calls need not write anything about it.
 */
import { sql, type RawBuilder } from 'kysely'
import { inTransaction, type Database } from '../db/open.ts'
import type { NanoBrl } from '../lib/money.ts'
import {
  credit,
  debit,
  findAccount,
  lockAccount,
  type EntryInput,
  type EntryOutcome,
} from './entries.ts'

/** The reasons of entries that are promotional. */
export const PROMOTIONAL_REASONS = ['promotion', 'referral'] as const
/** Of debits that take promotional credit back. */
const TAKEN_BACK = 'referral_taken_back'

export interface PromotionInput extends EntryInput {
  readonly reason: (typeof PROMOTIONAL_REASONS)[number]
}

/** A repeat changes nothing, as with every credit. */
export function grantPromotion(db: Database, input: PromotionInput): Promise<EntryOutcome> {
  return inTransaction(db, async (trx) => {
    await lockAccount(trx, input.customerId)
    const left = await findPromotionalLeft(trx, input.customerId)
    const outcome = await credit(trx, input)
    // Of a debt, the credit pays first: what is left of it is never more than the balance.
    if (outcome.kind === 'posted')
      await notePromotionalLeft(trx, input.customerId, left + input.amountNanoBrl)
    return outcome
  })
}

/**
 * Takes back up to so much of the promotional credit that is left, whatever it was granted for, and never what is
 * held for calls. Returns what it took, and what is left then.
 */
export function takeBackPromotion(
  db: Database,
  input: Omit<EntryInput, 'reason'>,
): Promise<{ readonly takenNanoBrl: NanoBrl; readonly leftNanoBrl: NanoBrl }> {
  const { customerId, amountNanoBrl } = input
  return inTransaction(db, async (trx) => {
    await lockAccount(trx, customerId)
    const left = await findPromotionalLeft(trx, customerId)
    const account = await findAccount(trx, customerId)
    const free = account ? account.balanceNanoBrl - account.heldNanoBrl : 0n
    const taken = [amountNanoBrl, left, free].reduce((least, each) => (each < least ? each : least))
    if (taken <= 0n) return { takenNanoBrl: 0n, leftNanoBrl: left }
    const outcome = await debit(trx, { ...input, amountNanoBrl: taken, reason: TAKEN_BACK })
    if (outcome.kind !== 'posted')
      throw new Error(`${input.reference} is not taken back: ${outcome.kind}`)
    await notePromotionalLeft(trx, customerId, left - taken)
    return { takenNanoBrl: taken, leftNanoBrl: left - taken }
  })
}

/** What of the balance is promotional. True for as long as the account is locked. */
export async function findPromotionalLeft(db: Database, customerId: string): Promise<NanoBrl> {
  const { rows } = await sql<{ left: bigint }>`
    select ${promotionalLeft} as left from accounts a where customer_id = ${customerId}`.execute(db)
  return rows[0]?.left ?? 0n
}

/** Of the account `a`. */
const promotionalLeft = sql`greatest(0, least(
  a.promotional_nano_brl - (a.charged_nano_brl - a.promotional_at_charged_nano_brl),
  a.credited_nano_brl - a.debited_nano_brl - a.charged_nano_brl))::int8`

/**
 * What the account `a` of a query has spent of paid money, at least: its charges less all promotional credit that is
 * not there any more.
 */
export const paidSpending: RawBuilder<bigint> = sql<bigint>`(a.charged_nano_brl - (
  coalesce((
    select sum(case p.kind when 'credit' then p.amount_nano_brl else -p.amount_nano_brl end) from ledger_entries p
    where p.customer_id = a.customer_id and (p.kind = 'credit' and p.reason in (${sql.join(PROMOTIONAL_REASONS)})
      or p.kind = 'debit' and p.reason = ${TAKEN_BACK})), 0)
  - ${promotionalLeft}))::int8`

async function notePromotionalLeft(
  trx: Database,
  customerId: string,
  left: NanoBrl,
): Promise<void> {
  await sql`
    update accounts set promotional_at_charged_nano_brl = charged_nano_brl,
      promotional_nano_brl = least(${left}::int8,
        greatest(0, credited_nano_brl - debited_nano_brl - charged_nano_brl))
    where customer_id = ${customerId}`.execute(trx)
}
