import { sql } from 'kysely'
import type { Database } from '../../platform/db/open.ts'
import type { NanoBrl } from '../../platform/lib/money.ts'
import { balanceOf, REFUNDS, RETURNED_REFUNDS, TOP_UPS, type Balance } from './find-balance.ts'

/** The most movements that a statement lists, the oldest first; its sums are of all of them. */
export const MOVEMENTS_MAX = 500

export const MOVEMENT_KINDS = [
  'topup',
  'other_credit',
  'refund',
  'returned_refund',
  'other_debit',
] as const

export interface Movement {
  readonly id: string
  readonly at: Date
  readonly kind: (typeof MOVEMENT_KINDS)[number]
  readonly isCredit: boolean
  readonly amountNanoBrl: NanoBrl
}

/**
 * What came and went in a month of the customer's time zone. It begins and ends with the whole hour of its midnight, so
 * that its sums are those of roll-ups, also where the calls themselves have been archived. A call belongs to the month in
 * which it began: one that runs at midnight is added when it is settled. `sums.balanceNanoBrl` is what the month changed.
 */
export interface Statement {
  readonly timezone: string
  readonly fromAt: Date
  readonly untilAt: Date
  readonly openingNanoBrl: NanoBrl
  readonly closingNanoBrl: NanoBrl
  readonly sums: Balance
  readonly movements: readonly Movement[]
  readonly movementsLeftOut: number
}

interface Row {
  readonly timezone: string
  readonly from_at: Date
  readonly until_at: Date
  readonly balance: bigint
  readonly changed_since: bigint
  readonly credited: bigint
  readonly debited: bigint
  readonly spent: bigint
  readonly topped_up: bigint
  readonly refunds: bigint
  readonly returned: bigint
  readonly entries: number
}

/**
 * Returns the statement of a month, `2026-11`; undefined means the current one. It counts back from the balance, in one
 * statement of the database: the balances of a month and the next one agree, and the last one is the account's.
 */
export async function readStatement(
  db: Database,
  customerId: string,
  month: string | undefined,
): Promise<Statement> {
  const { rows } = await sql<Row>`
    with months as (
      select id, timezone, date_trunc('month', coalesce(${month === undefined ? null : `${month}-01`}::timestamp,
        now() at time zone timezone)) as month
      from customers where id = ${customerId}
    ), bounds as (
      select id, timezone, date_trunc('hour', month at time zone timezone, 'UTC') as from_at,
        date_trunc('hour', (month + interval '1 month') at time zone timezone, 'UTC') as until_at
      from months
    ), entries as (
      select e.kind, e.reason, e.amount_nano_brl as amount, e.created_at >= b.until_at as is_later
      from bounds b join ledger_entries e on e.customer_id = b.id and e.created_at >= b.from_at
    ), used as (
      select
        coalesce((select sum(cost_billed_nano_brl) from usage_between(b.id, b.from_at, b.until_at)), 0)::bigint as spent,
        coalesce((select sum(cost_billed_nano_brl) from usage_between(b.id, b.until_at, 'infinity')), 0)::bigint as later
      from bounds b
    )
    select b.timezone, b.from_at, b.until_at, u.spent,
      coalesce((select credited_nano_brl - debited_nano_brl - charged_nano_brl from accounts where customer_id = b.id), 0)
        as balance,
      (coalesce(sum(case kind when 'credit' then amount else -amount end) filter (where is_later), 0) - u.later)::bigint
        as changed_since,
      ${sumOf(sql`kind = 'credit'`)} as credited,
      ${sumOf(sql`kind = 'debit'`)} as debited,
      ${sumOf(sql`kind = 'credit' and reason = any(${TOP_UPS})`)} as topped_up,
      ${sumOf(sql`kind = 'debit' and reason = any(${REFUNDS})`)} as refunds,
      ${sumOf(sql`kind = 'credit' and reason = any(${RETURNED_REFUNDS})`)} as returned,
      (count(*) filter (where not is_later))::int as entries
    from bounds b cross join used u left join entries on true
    group by b.id, b.timezone, b.from_at, b.until_at, u.spent, u.later`.execute(db)
  const [row] = rows
  if (!row) throw new Error('the customer of a caller exists')
  const sums = balanceOf({ ...row, toppedUp: row.topped_up })
  const closingNanoBrl = row.balance - row.changed_since
  const movements = await listMovements(db, customerId, row)
  return {
    timezone: row.timezone,
    fromAt: row.from_at,
    untilAt: row.until_at,
    openingNanoBrl: closingNanoBrl - sums.balanceNanoBrl,
    closingNanoBrl,
    sums,
    movements,
    movementsLeftOut: Math.max(0, row.entries - movements.length),
  }
}

function sumOf(condition: ReturnType<typeof sql>) {
  return sql`coalesce(sum(amount) filter (where not is_later and ${condition}), 0)::bigint`
}

async function listMovements(
  db: Database,
  customerId: string,
  { from_at, until_at }: Pick<Row, 'from_at' | 'until_at'>,
): Promise<Movement[]> {
  const { rows } = await sql<Movement>`
    select id, created_at as at, kind = 'credit' as "isCredit", amount_nano_brl as "amountNanoBrl", case
      when kind = 'credit' and reason = any(${TOP_UPS}) then 'topup'
      when kind = 'credit' and reason = any(${RETURNED_REFUNDS}) then 'returned_refund'
      when kind = 'credit' then 'other_credit'
      when reason = any(${REFUNDS}) then 'refund'
      else 'other_debit' end as kind
    from ledger_entries
    where customer_id = ${customerId} and created_at >= ${from_at} and created_at < ${until_at}
    order by created_at, id limit ${MOVEMENTS_MAX}`.execute(db)
  return rows
}
