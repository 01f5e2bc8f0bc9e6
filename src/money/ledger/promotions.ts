/**
 * Promotional credit: it is spent first and never refunded. Every entry says which part of the balance it moves, by its
 * reason (`sql/entries.sql`), so a credit for one of these reasons is a grant, whoever enters it.
 */
import { sql, type RawBuilder } from 'kysely'
import { inTransaction, type Database } from '../../platform/db/open.ts'
import type { NanoBrl } from '../../platform/lib/money.ts'
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

export interface PromotionInput extends EntryInput {
  readonly reason: (typeof PROMOTIONAL_REASONS)[number]
}

/** A repeat changes nothing, as with every credit. The credit pays a debt first. */
export function grantPromotion(db: Database, input: PromotionInput): Promise<EntryOutcome> {
  return credit(db, input)
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
    const entry = { ...input, amountNanoBrl: taken, reason: 'referral_taken_back' }
    const outcome = await debit(trx, entry)
    if (outcome.kind !== 'posted')
      throw new Error(`${input.reference} is not taken back: ${outcome.kind}`)
    return { takenNanoBrl: taken, leftNanoBrl: left - taken }
  })
}

/** Returns the promotional part of the balance, valid as long as the account is locked. */
export async function findPromotionalLeft(db: Database, customerId: string): Promise<NanoBrl> {
  const { rows } = await sql<{ left: bigint }>`
    select promotional_left(a) as left from accounts a where customer_id = ${customerId}`.execute(
    db,
  )
  return rows[0]?.left ?? 0n
}

/**
 * A lower bound of the paid money that the account `a` of a query has spent: the charges beyond promotional credit, less
 * the promotional credit that paid debts.
 */
export const paidSpending: RawBuilder<bigint> = sql<bigint>`(
  greatest(a.promotional_at_charged_nano_brl, a.charged_nano_brl - a.promotional_nano_brl) - coalesce((
    select sum(p.amount_nano_brl - p.promotional_nano_brl) from ledger_entries p
    where p.customer_id = a.customer_id and p.kind = 'credit' and p.reason in (${sql.join(PROMOTIONAL_REASONS)})), 0))::int8`
