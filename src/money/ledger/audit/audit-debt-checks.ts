/**
 * Checks of debts: an account is below zero by exactly the sum of its recorded changes, and each growth has a cause of
 * the same size. So one overrun excuses its own amount and nothing else.
 */
import { sql, type RawBuilder } from 'kysely'
import type { Checks } from './audit-event-checks.ts'

/** The reasons of debits that may exceed the balance. */
const OVERDRAWING = sql`('chargeback', 'top_up_returned')`

/** `debts`: the rows of `account_debts` to check, as a table or a query in brackets. */
export function debtChecks(debts: RawBuilder<unknown>): Checks {
  return {
    'every debt has a cause, and repayments alone are negative': sql`
      select d.id, d.customer_id, d.cause, d.amount_nano_brl from ${debts} d
      where (d.amount_nano_brl < 0) <> (d.cause = 'repaid')`,
    'a debt by overruns is at most the cost of its calls above their holds': sql`
      select d.id, d.customer_id, d.amount_nano_brl, d.hold_ids from ${debts} d
      where d.cause = 'overrun' and (
        d.amount_nano_brl > coalesce((
          select sum(e.cost_billed_nano_brl - e.held_nano_brl) from usage_events e
          where e.id = any (d.hold_ids) and e.customer_id = d.customer_id and e.corrects_id is null
            and e.cost_billed_nano_brl > e.held_nano_brl), 0)
        -- A call overruns its hold once.
        or exists (
          select from account_debts o
          where o.customer_id = d.customer_id and o.id <> d.id and o.cause = 'overrun' and o.hold_ids && d.hold_ids))`,
    'a debt by a correction is at most the increase of the charge': sql`
      select d.id, d.customer_id, d.amount_nano_brl, d.hold_ids from ${debts} d
      left join charge_corrections c on c.hold_id = d.hold_ids[1] and c.customer_id = d.customer_id
      where d.cause = 'correction' and (
        cardinality(d.hold_ids) is distinct from 1 or c.hold_id is null
        -- The reversal may repay a debt that the true charge makes again.
        or greatest(0, c.billed_nano_brl - c.first_billed_nano_brl) < (
          select sum(o.amount_nano_brl) from account_debts o
          where o.customer_id = d.customer_id and o.hold_ids = d.hold_ids and (o.cause = 'correction' or (
            o.cause = 'repaid'
            and o.created_at >= (select min(e.settled_at) from usage_events e where e.corrects_id = c.hold_id)))))`,
    'a debt by a debit has a charge-back or returned top-up': sql`
      select d.id, d.customer_id, d.amount_nano_brl from ${debts} d
      where d.cause = 'debit' and (
        not exists (
          select from ledger_entries e
          where e.customer_id = d.customer_id and e.kind = 'debit' and e.reason in ${OVERDRAWING}
            and e.amount_nano_brl >= d.amount_nano_brl
            -- An entry has the time at which its transaction began.
            and e.created_at between d.created_at - interval '10 minutes' and d.created_at)
        or (select sum(o.amount_nano_brl) from account_debts o where o.customer_id = d.customer_id and o.cause = 'debit')
          > (select sum(e.amount_nano_brl) from ledger_entries e
            where e.customer_id = d.customer_id and e.kind = 'debit' and e.reason in ${OVERDRAWING}))`,
  }
}
