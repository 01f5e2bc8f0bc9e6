import { sql } from 'kysely'
import type { Database } from '../../platform/db/open.ts'
import type { NanoBrl, PicoUsd } from '../../platform/lib/money.ts'

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
