import { sql, type RawBuilder } from 'kysely'

/**
 * The assignments by which a changed budget or cap of a key carries over what was spent in the current period:
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
