/**
 * The refundable amount: money that was paid in and is neither spent nor held. Promotional credit is spent first, then
 * the oldest top-up, so the rest of the balance belongs to the newest top-ups.
 */
import { sql } from 'kysely'
import type { Database } from '../../../platform/db/open.ts'
import { findAccount } from '../../ledger/entries.ts'
import { findPromotionalLeft } from '../../ledger/promotions.ts'
import type { NanoBrl } from '../../../platform/lib/money.ts'
import { NANO_BRL_PER_CENTAVO, type TopUpMethod } from '../top-ups.ts'

/** The days within which the consumer code (CDC, art. 49) lets a customer withdraw from a top-up. */
export const WITHDRAWAL_DAYS = 7
/** Pix supports returns for this long. */
const PIX_DAYS = 90
/** After this time the card has probably been replaced, so the operator finds another way. */
const CARD_DAYS = 180

export interface RefundableTopUp {
  readonly topUpId: string
  /** The unspent part, in whole centavos; above zero. */
  readonly unspentNanoBrl: NanoBrl
  /** Paid within the last `WITHDRAWAL_DAYS`. */
  readonly isWithdrawable: boolean
  /** The processor cannot return it, because it is a boleto or too old. */
  readonly isManual: boolean
}

/** Returns the top-ups that can be refunded, the newest first. The result holds only while the account is locked. */
export async function findRefundable(
  db: Database,
  customerId: string,
): Promise<readonly RefundableTopUp[]> {
  const promotional = await findPromotionalLeft(db, customerId)
  const account = await findAccount(db, customerId)
  let left = account ? account.balanceNanoBrl - account.heldNanoBrl - promotional : 0n
  const { rows } = await sql<PaidTopUp>`
    select id, method, amount_nano_brl - returned_nano_brl - refunding_nano_brl as remaining,
      paid_at > now() - make_interval(days => ${WITHDRAWAL_DAYS}) as is_withdrawable,
      method = 'boleto' or paid_at < now() - make_interval(days =>
        case when method = 'pix' then ${PIX_DAYS}::int4 else ${CARD_DAYS}::int4 end) as is_manual
    from top_ups
    where customer_id = ${customerId} and paid_at is not null
      and amount_nano_brl > returned_nano_brl + refunding_nano_brl
    order by paid_at desc, id desc`.execute(db)
  const refundable: RefundableTopUp[] = []
  for (const row of rows) {
    if (left < NANO_BRL_PER_CENTAVO) break
    const unspent = row.remaining < left ? row.remaining : left - (left % NANO_BRL_PER_CENTAVO)
    left -= unspent
    refundable.push({
      topUpId: row.id,
      unspentNanoBrl: unspent,
      isWithdrawable: row.is_withdrawable,
      isManual: row.is_manual,
    })
  }
  return refundable
}

interface PaidTopUp {
  id: string
  method: TopUpMethod
  remaining: bigint
  is_withdrawable: boolean
  is_manual: boolean
}

export function sumUnspent(topUps: readonly RefundableTopUp[]): NanoBrl {
  return topUps.reduce((sum, { unspentNanoBrl }) => sum + unspentNanoBrl, 0n)
}
