import { sql, type RawBuilder } from 'kysely'
import type { CapPeriod } from '../platform/db/tables.ts'
import type { Database } from '../platform/db/open.ts'
import type { NanoBrl } from '../platform/lib/money.ts'

/**
 * Sets the cap of a key for each minute or day; null removes it. The caller has locked the account. Running calls that
 * began under an earlier cap count as held in this one until they end.
 */
export async function putCap(
  trx: Database,
  keyId: string,
  period: CapPeriod,
  limitNanoBrl: NanoBrl | null,
): Promise<void> {
  if (limitNanoBrl === null) {
    await sql`delete from key_caps where api_key_id = ${keyId} and period = ${period}`.execute(trx)
    return
  }
  await sql`
    insert into key_caps as stored (api_key_id, period, timezone, limit_nano_brl, held_nano_brl)
    select k.id, ${period}, u.timezone, ${limitNanoBrl},
      (select coalesce(sum(h.amount_nano_brl), 0)::int8 from holds h
        where h.api_key_id = k.id and h.in_caps & cap_bit(${period}) <> 0)
    from api_keys k join customers u on u.id = k.customer_id
    where k.id = ${keyId}
    on conflict (api_key_id, period) do update set
      limit_nano_brl = excluded.limit_nano_brl,
      ${carryOver('nano_brl')}`.execute(trx)
}

/**
 * Returns the assignments by which a changed budget or cap of a key carries over what was spent in the current period:
 * `on conflict ... do update set`, where the changed row is `stored`. `spent_since` is read from the clock once, after
 * the account is locked, so a change at midnight belongs to exactly one period. The carried-over charges were settled
 * since `counted_since`.
 */
export function carryOver(unit: 'pico_usd' | 'nano_brl'): RawBuilder<unknown> {
  const spent = sql.ref(`stored.spent_${unit}`)
  const carried = sql`case when stored.period_started_at
      >= budget_period_start(stored.period, stored.timezone, excluded.spent_since) then ${spent} else 0 end`
  return sql`
    ${sql.id(`spent_${unit}`)} = ${carried},
    ${sql.id(`spent_before_${unit}`)} = ${carried},
    counted_since = case
      when stored.period_started_at < budget_period_start(stored.period, stored.timezone, excluded.spent_since)
        then excluded.spent_since
      when stored.spent_since < stored.period_started_at then stored.period_started_at
      else stored.counted_since end,
    spent_since = excluded.spent_since,
    period_started_at = budget_period_start(excluded.period, excluded.timezone, excluded.spent_since),
    timezone = excluded.timezone`
}
