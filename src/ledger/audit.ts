/**
 * Proves the ledger from its rows, in one snapshot. Each check is one query that lists what breaks an
 * invariant; the arithmetic of charges is done again by the database, in `numeric`, from the stored
 * price, rate and markup of each event.
 */
import { sql, type RawBuilder } from 'kysely'
import type { Database } from '../db/open.ts'
import { LEASE_SECONDS } from './lease.ts'

export interface AuditCheck {
  readonly name: string
  readonly ok: boolean
  /** At most ten rows that break it. */
  readonly breaches: readonly unknown[]
}

export interface AuditReport {
  readonly ok: boolean
  readonly checks: readonly AuditCheck[]
  readonly counts: {
    readonly charges: number
    readonly releases: number
    readonly openHolds: number
    readonly customers: number
    /** Accounts below zero: an upstream reported more than the ceiling it was given. */
    readonly debts: number
  }
}

const BREACHES_MAX = 10
/** The specification's delay of reconciliation. */
const RECONCILIATION_SECONDS = 60

const CHECKS: Record<string, RawBuilder<unknown>> = {
  'credits are the sum of their entries': sql`
    select a.customer_id, a.credited_nano_brl, coalesce(e.total, 0) as entries from accounts a
    left join (select customer_id, sum(amount_nano_brl) as total from ledger_entries where kind = 'credit' group by 1) e using (customer_id)
    where a.credited_nano_brl <> coalesce(e.total, 0)`,
  'debits are the sum of their entries': sql`
    select a.customer_id, a.debited_nano_brl, coalesce(e.total, 0) as entries from accounts a
    left join (select customer_id, sum(amount_nano_brl) as total from ledger_entries where kind = 'debit' group by 1) e using (customer_id)
    where a.debited_nano_brl <> coalesce(e.total, 0)`,
  'charges are the sum of the usage events': sql`
    select coalesce(a.customer_id, e.customer_id) as customer_id, a.charged_nano_brl, e.total as events from accounts a
    full join (select customer_id, sum(cost_billed_nano_brl) as total from usage_events group by 1) e using (customer_id)
    where coalesce(a.charged_nano_brl, 0) <> coalesce(e.total, 0) or a.customer_id is null`,
  'what is held is the sum of the open holds': sql`
    select coalesce(a.customer_id, h.customer_id) as customer_id, a.held_nano_brl, h.total as holds from accounts a
    full join (select customer_id, sum(amount_nano_brl) as total from holds group by 1) h using (customer_id)
    where coalesce(a.held_nano_brl, 0) <> coalesce(h.total, 0) or a.customer_id is null`,
  'budgets hold the sum of their open holds': sql`
    select b.api_key_id, b.held_pico_usd, coalesce(h.total, 0) as holds from api_key_budgets b
    left join (select api_key_id, sum(budget_pico_usd) as total from holds group by 1) h using (api_key_id)
    where b.held_pico_usd <> coalesce(h.total, 0)`,
  'teams hold the sum of their open holds': sql`
    select b.team_id, b.held_nano_brl, coalesce(h.total, 0) as holds from team_budgets b
    left join (select team_id, sum(amount_nano_brl) as total from holds group by 1) h using (team_id)
    where b.held_nano_brl <> coalesce(h.total, 0)`,
  'a call is resolved once': sql`
    select id, count(*) from usage_events group by id having count(*) > 1
    union all
    select e.id, 0 from usage_events e join holds h using (id)`,
  'the cost is tokens and units x price': sql`
    select e.id, e.cost_upstream_pico_usd from usage_events e
    left join prices p on p.id = e.price_id
    left join lateral (
      select (tier ->> 'input')::numeric as input, (tier ->> 'cached_input')::numeric as cached_input,
        (tier ->> 'cache_write')::numeric as cache_write, (tier ->> 'output')::numeric as output,
        (tier ->> 'reasoning')::numeric as reasoning
      from jsonb_array_elements(p.tiers) as tier
      where ((tier ->> 'above_prompt_tokens')::int = 0 or (tier ->> 'above_prompt_tokens')::int < abs(e.prompt_tokens))
      order by (tier ->> 'above_prompt_tokens')::int desc limit 1
    ) t on true
    left join lateral (
      -- A unit without a price makes no sum, and so a breach.
      select case when count(*) = count(p.units ->> unit) then coalesce(sum(used::numeric * (p.units ->> unit)::numeric), 0) end as cost
      from jsonb_each_text(e.units) as each(unit, used)
    ) u on true
    where e.cost_upstream_pico_usd is distinct from
      (e.prompt_tokens - e.cached_tokens - e.cache_write_tokens) * t.input + e.cached_tokens * t.cached_input
      + e.cache_write_tokens * t.cache_write
      + (e.completion_tokens - e.reasoning_tokens) * t.output + e.reasoning_tokens * t.reasoning + u.cost`,
  'the charge is cost x fx x markup, rounded half up once': sql`
    select id, cost_billed_nano_brl from usage_events
    where cost_billed_nano_brl <>
      sign(cost_upstream_pico_usd) * floor((abs(cost_upstream_pico_usd)::numeric * fx_rate_e4 * markup_e4 + 50000000000) / 100000000000)`,
  'the rate of a charge is a stored rate': sql`
    select e.id, e.fx_rate_e4 from usage_events e left join fx_rates f on f.id = e.fx_rate_id
    where f.rate_e4 is distinct from e.fx_rate_e4`,
  'a release charges nothing': sql`
    select id from usage_events where outcome = 'released' and (cost_billed_nano_brl <> 0 or cost_upstream_pico_usd <> 0)`,
  'roll-ups are the sums of the events': sql`
    select customer_id, hour_at, api_key_id, model_id, h.cost_billed_nano_brl, e.billed
    from usage_hours h
    full join (
      select customer_id, date_trunc('hour', created_at) as hour_at, api_key_id, model_id,
        sum(event_charges(outcome, reason)) as charged, count(*) filter (where outcome = 'released') as released,
        sum(prompt_tokens) as prompt_tokens, sum(completion_tokens) as completion_tokens,
        sum(cost_upstream_pico_usd) as cost, sum(cost_billed_nano_brl) as billed
      from usage_events group by 1, 2, 3, 4
    ) e using (customer_id, hour_at, api_key_id, model_id)
    where (h.charged_requests, h.released_requests, h.prompt_tokens, h.completion_tokens, h.cost_upstream_pico_usd, h.cost_billed_nano_brl)
      is distinct from (e.charged, e.released, e.prompt_tokens, e.completion_tokens, e.cost, e.billed)`,
  'the days are the sums of their hours': sql`
    select customer_id, day_at, api_key_id, model_id, d.cost_billed_nano_brl, h.billed
    from usage_days d
    full join (
      select u.customer_id, date_trunc('day', u.hour_at, 'UTC') as day_at, u.api_key_id, u.model_id,
        sum(u.charged_requests) as charged, sum(u.released_requests) as released,
        sum(u.prompt_tokens) as prompt_tokens, sum(u.completion_tokens) as completion_tokens,
        sum(u.cost_upstream_pico_usd) as cost, sum(u.cost_billed_nano_brl) as billed
      from usage_hours u join accounts a on a.customer_id = u.customer_id and u.hour_at < a.usage_days_until
      group by 1, 2, 3, 4
    ) h using (customer_id, day_at, api_key_id, model_id)
    where (d.charged_requests, d.released_requests, d.prompt_tokens, d.completion_tokens, d.cost_upstream_pico_usd, d.cost_billed_nano_brl)
      is distinct from (h.charged, h.released, h.prompt_tokens, h.completion_tokens, h.cost, h.billed)`,
  'sessions are the sums of their events': sql`
    select customer_id, session_id, s.cost_billed_nano_brl, e.billed
    from usage_sessions s
    full join (
      select customer_id, session_id collate "C" as session_id, sum(event_charges(outcome, reason)) as requests, sum(prompt_tokens) as prompt_tokens,
        sum(completion_tokens) as completion_tokens, sum(cost_billed_nano_brl) as billed,
        min(created_at) as first_at, max(created_at) as last_at
      from usage_events where outcome = 'charged' and session_id is not null group by 1, 2
    ) e using (customer_id, session_id)
    where (s.requests, s.prompt_tokens, s.completion_tokens, s.cost_billed_nano_brl, s.first_request_at, s.last_request_at)
      is distinct from (e.requests, e.prompt_tokens, e.completion_tokens, e.billed, e.first_at, e.last_at)`,
  'no hold outlives its node': sql`
    select h.id, h.created_at from holds h left join nodes n on n.id = h.node_id
    where n.id is null
      or n.stopped_at < now() - make_interval(secs => ${RECONCILIATION_SECONDS})
      or n.seen_at < now() - make_interval(secs => ${RECONCILIATION_SECONDS + LEASE_SECONDS})`,
  'what was not borrowed from an upstream, or taken back by a payer, was paid in': sql`
    select a.customer_id, a.credited_nano_brl - a.debited_nano_brl - a.charged_nano_brl as balance from accounts a
    where a.credited_nano_brl - a.debited_nano_brl - a.charged_nano_brl < 0
      and not exists (select 1 from usage_events e where e.customer_id = a.customer_id and e.cost_billed_nano_brl > e.held_nano_brl)
      and not exists (select 1 from ledger_entries d where d.customer_id = a.customer_id
        and d.kind = 'debit' and d.reason in ('chargeback', 'top_up_returned'))`,
}

/** `more`: checks of rooms that the ledger does not know, each a query for what breaks it. */
export async function audit(
  db: Database,
  more: Readonly<Record<string, RawBuilder<unknown>>> = {},
): Promise<AuditReport> {
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (trx) => {
      // A large history takes longer to prove than a request may take.
      await sql`set local statement_timeout = 0`.execute(trx)
      const checks: AuditCheck[] = []
      for (const [name, query] of Object.entries({ ...CHECKS, ...more })) {
        const { rows } = await sql`select * from (${query}) breaches limit ${BREACHES_MAX}`.execute(
          trx,
        )
        checks.push({ name, ok: rows.length === 0, breaches: rows })
      }
      return { ok: checks.every((check) => check.ok), checks, counts: await count(trx) }
    })
}

async function count(db: Database): Promise<AuditReport['counts']> {
  const { rows } = await sql<{
    charges: bigint
    releases: bigint
    holds: bigint
    customers: bigint
    debts: bigint
  }>`
    select
      (select count(*) from usage_events where outcome = 'charged') as charges,
      (select count(*) from usage_events where outcome = 'released') as releases,
      (select count(*) from holds) as holds,
      (select count(*) from customers) as customers,
      (select count(*) from accounts where credited_nano_brl - debited_nano_brl - charged_nano_brl < 0) as debts`.execute(
    db,
  )
  const row = rows[0] as {
    charges: bigint
    releases: bigint
    holds: bigint
    customers: bigint
    debts: bigint
  }
  return {
    charges: Number(row.charges),
    releases: Number(row.releases),
    openHolds: Number(row.holds),
    customers: Number(row.customers),
    debts: Number(row.debts),
  }
}
