import { sql, type RawBuilder } from 'kysely'
import { SUMMED, SUMMED_FOR_BUDGETS } from './audit-scope.ts'
import { rowsHash, type Slice } from './audit-seals.ts'

export const ROWS = 'sealed events are as they were sealed'
export const TREE = 'the tree of a seal is that of its events'

/** Selects the seal if these events have another hash, number or sums than those that it sealed. */
export function sealDiffers(
  number: bigint,
  slice: Slice,
  events: RawBuilder<unknown>,
): RawBuilder<unknown> {
  return sql`
    select s.number, s.from_at, s.to_at, s.events from audit_seals s
    where s.number = ${number} and (
      s.rows_hash <> ${rowsHash(slice, events)} or s.events <> (select count(*) from ${events} e)
      or exists (
        with again as (
          select ${SUMMED}, ${SUMMED_FOR_BUDGETS} from ${events} e group by 1, 2, 3, 4, 5
        ), sealed as (
          select customer_id, hour_at, api_key_id, model_id, team_id, charged, released, prompt_tokens,
            completion_tokens, cost_pico_usd, billed_nano_brl, budget_pico_usd, cap_nano_brl, minute_cap_nano_brl,
            day_cap_nano_brl
          from audit_seal_sums where seal_number = ${number}
        )
        (select * from again except select * from sealed) union all (select * from sealed except select * from again)))`
}
