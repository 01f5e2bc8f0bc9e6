/**
 * Promotional credit: it is spent first and never refunded. The account stores the rest of it at a known sum of
 * charges, so that calls write nothing about it.
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
export const PROMOTIONAL_REASONS = ['promotion', 'referral', 'trial'] as const
/** The reasons of debits that take promotional credit back. */
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
    // The credit pays a debt first, so the rest of it never exceeds the balance.
    if (outcome.kind === 'posted')
      await notePromotionalLeft(trx, input.customerId, left + input.amountNanoBrl)
    return outcome
  })
}

/**
 * Takes back up to this amount of the remaining promotional credit, of any grant, but never money that is held for
 * calls. Returns the amount taken, and the rest.
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

/** The promotional part of the balance, valid as long as the account is locked. */
export async function findPromotionalLeft(db: Database, customerId: string): Promise<NanoBrl> {
  const { rows } = await sql<{ left: bigint }>`
    select ${promotionalLeft} as left from accounts a where customer_id = ${customerId}`.execute(db)
  return rows[0]?.left ?? 0n
}

/** The same, as an expression on the account `a`. */
const promotionalLeft = sql`greatest(0, least(
  a.promotional_nano_brl - (a.charged_nano_brl - a.promotional_at_charged_nano_brl),
  a.credited_nano_brl - a.debited_nano_brl - a.charged_nano_brl))::int8`

/**
 * A lower bound of the paid money that the account `a` of a query has spent: its charges less all promotional credit
 * that was used or taken back.
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
