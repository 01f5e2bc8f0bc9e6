/**
 * Top-ups: a customer's payments into the balance. The row exists before the payment is requested from the processor, so
 * every payment of ours can be matched with its top-up. Only `apply-payment.ts` credits money.
 */
import { sql, type Selectable } from 'kysely'
import { exactTime, isBefore } from '../../platform/db/exact-time.ts'
import type { Database } from '../../platform/db/open.ts'
import type { Tables } from '../../platform/db/tables.ts'
import { isUuid } from '../../platform/lib/ids.ts'
import type { NanoBrl } from '../../platform/lib/money.ts'

export const NANO_BRL_PER_CENTAVO = 10_000_000n

export type TopUpMethod = 'pix' | 'boleto' | 'card'
export type TopUpStatus = Selectable<Tables['top_ups']>['status']

export interface TopUp {
  readonly id: string
  readonly customerId: string
  readonly amountNanoBrl: NanoBrl
  readonly method: TopUpMethod
  readonly status: TopUpStatus
  readonly processorPaymentId: string | null
  readonly pix: { readonly payload: string; readonly qrCodeBase64: string } | null
  readonly boleto: { readonly url: string; readonly line: string } | null
  readonly card: { readonly brand: string | null; readonly lastFour: string } | null
  /** The saved card, which may have been deleted since. */
  readonly paymentMethodId: string | null
  /** The card payment is or was in the processor's risk review. */
  readonly wasInReview: boolean
  readonly isAutomatic: boolean
  /** The processor's page, where the top-up can be paid as well. */
  readonly pageUrl: string | null
  readonly expiresAt: Date | null
  readonly createdAt: Date
  readonly paidAt: Date | null
  /** Returned to the payer, and debited from the balance. */
  readonly returnedNanoBrl: NanoBrl
  /** Debited from the balance for refunds in progress. */
  readonly refundingNanoBrl: NanoBrl
}

export async function findTopUp(
  db: Database,
  customerId: string,
  id: string,
): Promise<TopUp | undefined> {
  if (!isUuid(id)) return undefined
  const row = await db
    .selectFrom('top_ups')
    .selectAll()
    .where('customer_id', '=', customerId)
    .where('id', '=', id)
    .executeTakeFirst()
  return row && toTopUp(row)
}

/** Returns top-ups, the newest first, starting after the given position. */
export async function listTopUps(
  db: Database,
  customerId: string,
  limit: number,
  after: { readonly at: string; readonly id: string } | undefined,
): Promise<(TopUp & { readonly exactCreatedAt: string })[]> {
  let query = db
    .selectFrom('top_ups')
    .selectAll()
    .select(exactTime('created_at').as('exact_created_at'))
    .where('customer_id', '=', customerId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
  if (after) query = query.where(isBefore(after))
  const rows = await query.execute()
  return rows.map((row) => ({ ...toTopUp(row), exactCreatedAt: row.exact_created_at }))
}

/** Counts top-ups. `paid` includes those that were refunded later. */
export async function countTopUps(
  db: Database,
  customerId: string,
): Promise<{ paid: number; total: number }> {
  const { rows } = await sql<{ paid: bigint; total: bigint }>`
    select count(paid_at) as paid, count(*) as total from top_ups
    where customer_id = ${customerId}`.execute(db)
  return { paid: Number(rows[0]?.paid ?? 0n), total: Number(rows[0]?.total ?? 0n) }
}

/** Sums up what was paid from one day to another, both inclusive, whether it was returned later or not. */
export async function sumPaidTopUps(
  db: Database,
  { from, to, timezone }: { from: string; to: string; timezone: string },
): Promise<{ count: bigint; amountNanoBrl: NanoBrl }> {
  const { rows } = await sql<{ count: bigint; amountNanoBrl: bigint }>`
    select count(*) as count, coalesce(sum(amount_nano_brl), 0)::int8 as "amountNanoBrl" from top_ups
    where paid_at >= ${from}::timestamp at time zone ${timezone}
      and paid_at < (${to}::timestamp + interval '1 day') at time zone ${timezone}`.execute(db)
  return rows[0] ?? { count: 0n, amountNanoBrl: 0n }
}

export function toTopUp(row: TopUpRow): TopUp {
  return {
    id: row.id,
    customerId: row.customer_id,
    amountNanoBrl: row.amount_nano_brl,
    method: row.method,
    status: row.status,
    processorPaymentId: row.processor_payment_id,
    pix:
      row.pix_payload === null || row.pix_qr_code_base64 === null
        ? null
        : { payload: row.pix_payload, qrCodeBase64: row.pix_qr_code_base64 },
    boleto:
      row.boleto_url === null || row.boleto_line === null
        ? null
        : { url: row.boleto_url, line: row.boleto_line },
    card:
      row.card_last_four === null ? null : { brand: row.card_brand, lastFour: row.card_last_four },
    paymentMethodId: row.payment_method_id,
    wasInReview: row.was_in_review,
    isAutomatic: row.is_automatic,
    pageUrl: row.page_url,
    expiresAt: row.expires_at,
    createdAt: row.created_at,
    paidAt: row.paid_at,
    returnedNanoBrl: row.returned_nano_brl,
    refundingNanoBrl: row.refunding_nano_brl,
  }
}

interface TopUpRow {
  id: string
  customer_id: string
  amount_nano_brl: bigint
  method: TopUpMethod
  status: TopUpStatus
  processor_payment_id: string | null
  pix_payload: string | null
  pix_qr_code_base64: string | null
  boleto_url: string | null
  boleto_line: string | null
  card_brand: string | null
  card_last_four: string | null
  payment_method_id: string | null
  was_in_review: boolean
  is_automatic: boolean
  page_url: string | null
  expires_at: Date | null
  created_at: Date
  paid_at: Date | null
  returned_nano_brl: bigint
  refunding_nano_brl: bigint
}
