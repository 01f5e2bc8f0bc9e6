import { sql } from 'kysely'
import type { CapPeriod } from '../db/tables.ts'
import type { Database } from '../db/open.ts'
import type { NanoBrl } from '../lib/money.ts'

/**
 * Sets the cap of a key for each minute or day; null removes it. The caller has locked the account. Running calls that
 * began under an earlier cap count as held in this one until they end. What was spent in the current period under the
 * changed cap is carried over, as in a changed budget (`change-api-key.ts`).
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
    insert into key_caps as c (api_key_id, period, timezone, limit_nano_brl, held_nano_brl)
    select k.id, ${period}, u.timezone, ${limitNanoBrl},
      (select coalesce(sum(h.amount_nano_brl), 0)::int8 from holds h
        where h.api_key_id = k.id and h.in_caps & cap_bit(${period}) <> 0)
    from api_keys k join customers u on u.id = k.customer_id
    where k.id = ${keyId}
    on conflict (api_key_id, period) do update set
      limit_nano_brl = excluded.limit_nano_brl,
      spent_nano_brl = case
        when c.period_started_at >= budget_period_start(c.period, c.timezone, excluded.spent_since) then c.spent_nano_brl else 0 end,
      spent_before_nano_brl = case
        when c.period_started_at >= budget_period_start(c.period, c.timezone, excluded.spent_since) then c.spent_nano_brl else 0 end,
      counted_since = case
        when c.period_started_at < budget_period_start(c.period, c.timezone, excluded.spent_since) then excluded.spent_since
        when c.spent_since < c.period_started_at then c.period_started_at
        else c.counted_since end,
      spent_since = excluded.spent_since,
      period_started_at = budget_period_start(excluded.period, excluded.timezone, excluded.spent_since),
      timezone = excluded.timezone`.execute(trx)
}
