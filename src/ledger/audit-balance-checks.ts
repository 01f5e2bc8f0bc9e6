/** What is proved of sums: accounts, budgets, caps and roll-ups against the rows that they stand for. */
import { sql } from 'kysely'
import { BILLED_PICO_USD, type Checks } from './audit-event-checks.ts'
import { LEASE_SECONDS } from './lease.ts'

/** The specification's delay of reconciliation. */
const RECONCILIATION_SECONDS = 60

export function balanceChecks(): Checks {
  return { ...accountChecks(), ...budgetChecks(), ...rollupChecks() }
}

function accountChecks(): Checks {
  return {
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
    'an open hold has no outcome': sql`
      select h.id from holds h where exists (select from usage_events e where e.id = h.id)
        or exists (select from charge_corrections c where c.hold_id = h.id)`,
    'no hold outlives its node': sql`
      select h.id, h.created_at from holds h left join nodes n on n.id = h.node_id
      where n.id is null
        or n.stopped_at < now() - make_interval(secs => ${RECONCILIATION_SECONDS})
        or n.seen_at < now() - make_interval(secs => ${RECONCILIATION_SECONDS + LEASE_SECONDS})`,
    'what an account owes is what its noted debts add up to': sql`
      select coalesce(a.customer_id, d.customer_id) as customer_id, a.owes, d.noted from (
        select customer_id, greatest(0, held_nano_brl + charged_nano_brl + debited_nano_brl - credited_nano_brl) as owes
        from accounts
      ) a
      full join (select customer_id, sum(amount_nano_brl) as noted from account_debts group by 1) d using (customer_id)
      where coalesce(a.owes, 0) <> coalesce(d.noted, 0) or a.customer_id is null`,
  }
}

/**
 * `spent` is what was spent before the budget was set, where that was in its current period, and the events settled
 * since both began. It counts until a call is settled in the next period.
 */
function budgetChecks(): Checks {
  return {
    'budgets hold the sum of their open holds': sql`
      select b.api_key_id, b.held_pico_usd, coalesce(h.total, 0) as holds from api_key_budgets b
      left join (select api_key_id, sum(budget_pico_usd) as total from holds group by 1) h using (api_key_id)
      where b.held_pico_usd <> coalesce(h.total, 0)`,
    'teams hold the sum of their open holds': sql`
      select b.team_id, b.held_nano_brl, coalesce(h.total, 0) as holds from team_budgets b
      left join (select team_id, sum(amount_nano_brl) as total from holds group by 1) h using (team_id)
      where b.held_nano_brl <> coalesce(h.total, 0)`,
    'budgets have spent the sum of their charges': sql`
      select b.api_key_id, b.spent_pico_usd, coalesce(s.total, 0) + b.before as events from (
        select api_key_id, spent_pico_usd,
          case when spent_since >= period_started_at then spent_before_pico_usd else 0 end as before from api_key_budgets
      ) b
      left join (
        select e.api_key_id, sum(${BILLED_PICO_USD}) as total
        from api_key_budgets b join usage_events e using (api_key_id)
        where e.in_budget and e.settled_at >= greatest(b.period_started_at, b.spent_since) group by 1
      ) s using (api_key_id)
      where b.spent_pico_usd <> coalesce(s.total, 0) + b.before`,
    'teams have spent the sum of their charges': sql`
      select b.team_id, b.spent_nano_brl, coalesce(s.total, 0) + b.before as events from (
        select team_id, spent_nano_brl,
          case when spent_since >= period_started_at then spent_before_nano_brl else 0 end as before from team_budgets
      ) b
      left join (
        select e.team_id, sum(e.cost_billed_nano_brl) as total
        from team_budgets b join usage_events e using (team_id)
        where e.in_cap and e.settled_at >= greatest(b.period_started_at, b.spent_since) group by 1
      ) s using (team_id)
      where b.spent_nano_brl <> coalesce(s.total, 0) + b.before`,
  }
}

function rollupChecks(): Checks {
  return {
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
        select customer_id, session_id collate "C" as session_id, sum(event_charges(outcome, reason)) as requests,
          sum(prompt_tokens) as prompt_tokens, sum(completion_tokens) as completion_tokens,
          sum(cost_billed_nano_brl) as billed, min(created_at) as first_at, max(created_at) as last_at
        from usage_events where outcome = 'charged' and session_id is not null group by 1, 2
      ) e using (customer_id, session_id)
      where (s.requests, s.prompt_tokens, s.completion_tokens, s.cost_billed_nano_brl, s.first_request_at, s.last_request_at)
        is distinct from (e.requests, e.prompt_tokens, e.completion_tokens, e.billed, e.first_at, e.last_at)`,
  }
}
