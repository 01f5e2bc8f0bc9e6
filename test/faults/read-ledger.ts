/** The ledger's rows of each call, and of each customer. */
import { sql } from 'kysely'
import type { Database } from '../../src/platform/db/open.ts'

/** All events of one hold: its first outcome and its corrections. */
export interface LedgerCall {
  readonly holdId: string
  readonly requestId: string
  readonly customerId: string
  /** The sum over all its events. */
  readonly billedNanoBrl: bigint
  readonly completionTokens: number
  /** The number of first outcomes, which must be one. */
  readonly outcomes: number
  /** Of the first outcome. */
  readonly outcome: 'charged' | 'released'
  readonly usageKinds: readonly string[]
  readonly reasons: readonly string[]
  readonly corrections: number
}

export interface LedgerAccount {
  readonly customerId: string
  readonly creditedNanoBrl: bigint
  readonly debitedNanoBrl: bigint
  readonly chargedNanoBrl: bigint
  readonly heldNanoBrl: bigint
  /**
   * How much more the corrections charged than the first outcomes had, over the holds that they made dearer: what
   * another correction gave back may be spent again before.
   */
  readonly correctedNanoBrl: bigint
}

export async function readLedgerCalls(db: Database): Promise<LedgerCall[]> {
  const { rows } = await sql<{
    hold_id: string
    request_id: string
    customer_id: string
    billed: bigint
    completion_tokens: bigint
    outcomes: bigint
    outcome: 'charged' | 'released'
    usage_kinds: string[]
    reasons: string[]
    corrections: bigint
  }>`
    select coalesce(corrects_id, id) as hold_id, request_id, customer_id,
      sum(cost_billed_nano_brl)::int8 as billed, sum(completion_tokens) as completion_tokens,
      count(*) filter (where corrects_id is null) as outcomes,
      min(outcome::text) filter (where corrects_id is null) as outcome,
      array_agg(usage_kind::text order by settled_at) as usage_kinds,
      array_agg(coalesce(reason, '') order by settled_at) as reasons,
      count(*) filter (where corrects_id is not null) as corrections
    from usage_events group by 1, 2, 3`.execute(db)
  return rows.map((row) => ({
    holdId: row.hold_id,
    requestId: row.request_id,
    customerId: row.customer_id,
    billedNanoBrl: row.billed,
    completionTokens: Number(row.completion_tokens),
    outcomes: Number(row.outcomes),
    outcome: row.outcome,
    usageKinds: row.usage_kinds,
    reasons: row.reasons,
    corrections: Number(row.corrections),
  }))
}

export async function readAccounts(db: Database): Promise<LedgerAccount[]> {
  const { rows } = await sql<{
    customer_id: string
    credited: bigint
    debited: bigint
    charged: bigint
    held: bigint
    corrected: bigint
  }>`
    select customer_id, credited_nano_brl as credited, debited_nano_brl as debited,
      charged_nano_brl as charged, held_nano_brl as held, coalesce(c.corrected, 0)::int8 as corrected
    from accounts
    left join (
      select customer_id, sum(greatest(0, more)) as corrected from (
        select customer_id, corrects_id, sum(cost_billed_nano_brl) as more from usage_events
        where corrects_id is not null group by 1, 2
      ) by_hold group by 1
    ) c using (customer_id)`.execute(db)
  return rows.map((row) => ({
    customerId: row.customer_id,
    creditedNanoBrl: row.credited,
    debitedNanoBrl: row.debited,
    chargedNanoBrl: row.charged,
    heldNanoBrl: row.held,
    correctedNanoBrl: row.corrected,
  }))
}
