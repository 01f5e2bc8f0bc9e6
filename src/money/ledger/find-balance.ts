import { sql } from 'kysely'
import type { Database } from '../../platform/db/open.ts'
import { jsonBrl, type NanoBrl, type PicoUsd } from '../../platform/lib/money.ts'

/**
 * A balance with its sums, all of one moment: `balance = topped up + other credits - spent - refunded - other debits`.
 */
export interface Balance {
  readonly balanceNanoBrl: NanoBrl
  /** Paid in by the customer; in sandbox mode, also the balance of the demo. */
  readonly toppedUpNanoBrl: NanoBrl
  /** Adjustments, promotional credit and rewards. */
  readonly otherCreditsNanoBrl: NanoBrl
  readonly spentNanoBrl: NanoBrl
  /** Returned to the payer or on the way there, without the parts that came back. */
  readonly refundedNanoBrl: NanoBrl
  /** Adjustments, charge-backs and rewards that were taken back. */
  readonly otherDebitsNanoBrl: NanoBrl
}

export const TOP_UPS = ['top_up', 'sandbox']
export const REFUNDS = ['refund', 'top_up_returned']
export const RETURNED_REFUNDS = ['refund_failed', 'refund_rejected']

/** Returns the balance with the sums that explain it; all zero for an account that does not exist. */
export async function findBalance(db: Database, customerId: string): Promise<Balance> {
  const { rows } = await sql<Record<keyof Sums, bigint>>`
    select a.credited_nano_brl as credited, a.debited_nano_brl as debited, a.charged_nano_brl as spent,
      coalesce(sum(e.amount_nano_brl) filter (where e.kind = 'credit' and e.reason = any(${TOP_UPS})), 0)::bigint
        as "toppedUp",
      coalesce(sum(e.amount_nano_brl) filter (where e.kind = 'debit' and e.reason = any(${REFUNDS})), 0)::bigint
        as refunds,
      coalesce(sum(e.amount_nano_brl) filter (where e.kind = 'credit' and e.reason = any(${RETURNED_REFUNDS})), 0)::bigint
        as returned
    from accounts a left join ledger_entries e using (customer_id)
    where a.customer_id = ${customerId} group by a.customer_id`.execute(db)
  return balanceOf(rows[0] ?? NONE)
}

interface Sums {
  readonly credited: NanoBrl
  readonly debited: NanoBrl
  readonly spent: NanoBrl
  readonly toppedUp: NanoBrl
  readonly refunds: NanoBrl
  readonly returned: NanoBrl
}

const NONE: Sums = { credited: 0n, debited: 0n, spent: 0n, toppedUp: 0n, refunds: 0n, returned: 0n }

export function balanceOf({
  credited,
  debited,
  spent,
  toppedUp,
  refunds,
  returned,
}: Sums): Balance {
  return {
    balanceNanoBrl: credited - debited - spent,
    toppedUpNanoBrl: toppedUp,
    otherCreditsNanoBrl: credited - toppedUp - returned,
    spentNanoBrl: spent,
    refundedNanoBrl: refunds - returned,
    otherDebitsNanoBrl: debited - refunds,
  }
}

/** Returns a balance as the API shows it. */
export function balanceFields(balance: Balance) {
  return {
    balance_brl: jsonBrl(balance.balanceNanoBrl),
    total_topped_up_brl: jsonBrl(balance.toppedUpNanoBrl),
    total_other_credits_brl: jsonBrl(balance.otherCreditsNanoBrl),
    total_spent_brl: jsonBrl(balance.spentNanoBrl),
    total_refunded_brl: jsonBrl(balance.refundedNanoBrl),
    total_other_debits_brl: jsonBrl(balance.otherDebitsNanoBrl),
  }
}

/** The amounts that a key could hold at this moment. Reading them holds nothing. */
export interface Room {
  /** Before open holds. */
  readonly balanceNanoBrl: NanoBrl
  readonly heldNanoBrl: NanoBrl
  /** Null without a budget. */
  readonly budgetLeftPicoUsd: PicoUsd | null
  /** Null without a cap. */
  readonly teamLeftNanoBrl: NanoBrl | null
}

export async function readRoom(
  db: Database,
  key: { readonly id: string; readonly customerId: string; readonly teamId: string | null },
): Promise<Room> {
  const { rows } = await sql<Room>`
    select
      a.credited_nano_brl - a.debited_nano_brl - a.charged_nano_brl as "balanceNanoBrl",
      a.held_nano_brl as "heldNanoBrl",
      b.limit_pico_usd - b.held_pico_usd - case
        when b.period_started_at >= budget_period_start(b.period, b.timezone) then b.spent_pico_usd else 0
      end as "budgetLeftPicoUsd",
      t.limit_nano_brl - t.held_nano_brl - case
        when t.period_started_at >= budget_period_start('month', t.timezone) then t.spent_nano_brl else 0
      end as "teamLeftNanoBrl"
    from accounts a
      left join api_key_budgets b on b.api_key_id = ${key.id}
      left join team_budgets t on t.team_id = ${key.teamId}
    where a.customer_id = ${key.customerId}
  `.execute(db)
  return (
    rows[0] ?? {
      balanceNanoBrl: 0n,
      heldNanoBrl: 0n,
      budgetLeftPicoUsd: null,
      teamLeftNanoBrl: null,
    }
  )
}
