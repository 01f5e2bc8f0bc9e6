/** Checks of sums: accounts, budgets, caps and roll-ups against the rows that they sum up. */
import { sql, type RawBuilder } from 'kysely'
import { BILLED_PICO_USD, type Checks } from './audit-event-checks.ts'
import type { AuditScope } from './audit-scope.ts'
import { LEASE_SECONDS } from '../lease.ts'

/** Orphaned holds must be resolved within this time, by the specification. */
const RECONCILIATION_SECONDS = 60

export function balanceChecks(scope: AuditScope): Checks {
  return Object.assign(
    accountChecks(scope),
    ...Object.entries(LIMITS).map(([named, limit]) => checksOf(named, limit, scope)),
    taskChecks(scope),
    rollupChecks(scope),
  ) as Checks
}

function accountChecks({ of, sums }: AuditScope): Checks {
  return {
    'account credits equal the sum of credit entries': sql`
      select a.customer_id, a.credited_nano_brl, coalesce(e.total, 0) as entries from ${of('accounts')} a
      left join (select customer_id, sum(amount_nano_brl) as total from ${of('ledger_entries')} e where kind = 'credit' group by 1) e using (customer_id)
      where a.credited_nano_brl <> coalesce(e.total, 0)`,
    'account debits equal the sum of debit entries': sql`
      select a.customer_id, a.debited_nano_brl, coalesce(e.total, 0) as entries from ${of('accounts')} a
      left join (select customer_id, sum(amount_nano_brl) as total from ${of('ledger_entries')} e where kind = 'debit' group by 1) e using (customer_id)
      where a.debited_nano_brl <> coalesce(e.total, 0)`,
    'promotional credit, and the charges of paid money, equal the sums of entries and corrections': sql`
      select a.customer_id, a.promotional_nano_brl, e.promotional, a.promotional_at_charged_nano_brl, e.paid
      from ${of('accounts')} a
      left join (
        select customer_id, sum(promotional) as promotional, sum(paid) as paid from (
          select customer_id, case kind when 'credit' then promotional_nano_brl else -promotional_nano_brl end as promotional,
            paid_charges_nano_brl as paid
          from ${of('ledger_entries')} e
          union all
          select customer_id, 0, -paid_back_nano_brl from ${of('charge_corrections')} c
        ) parts group by 1
      ) e using (customer_id)
      where (a.promotional_nano_brl, a.promotional_at_charged_nano_brl) <> (coalesce(e.promotional, 0), coalesce(e.paid, 0))`,
    'accounts of deleted customers keep no money': sql`
      select a.customer_id, a.credited_nano_brl - a.debited_nano_brl - a.charged_nano_brl as balance
      from ${of('accounts')} a join customers c on c.id = a.customer_id and c.deleted_at is not null
      where a.credited_nano_brl - a.debited_nano_brl - a.charged_nano_brl > 0`,
    'account charges equal the sum of usage events': sql`
      select coalesce(a.customer_id, e.customer_id) as customer_id, a.charged_nano_brl, e.total as events from ${of('accounts')} a
      full join (select customer_id, sum(billed_nano_brl) as total from ${sums} s group by 1) e using (customer_id)
      where coalesce(a.charged_nano_brl, 0) <> coalesce(e.total, 0) or a.customer_id is null`,
    'held amounts equal the sum of open holds': sql`
      select coalesce(a.customer_id, h.customer_id) as customer_id, a.held_nano_brl, h.total as holds from ${of('accounts')} a
      full join (select customer_id, sum(amount_nano_brl) as total from ${of('holds')} h group by 1) h using (customer_id)
      where coalesce(a.held_nano_brl, 0) <> coalesce(h.total, 0) or a.customer_id is null`,
    'no open hold has an outcome': sql`
      select h.id from ${of('holds')} h where exists (select from usage_events e where e.id = h.id)
        or exists (select from charge_corrections c where c.hold_id = h.id)`,
    'no open hold belongs to a dead node': sql`
      select h.id, h.created_at from ${of('holds')} h left join nodes n on n.id = h.node_id
      where n.id is null
        or n.stopped_at < now() - make_interval(secs => ${RECONCILIATION_SECONDS})
        or n.seen_at < now() - make_interval(secs => ${RECONCILIATION_SECONDS + LEASE_SECONDS})`,
    'negative balances equal the sum of recorded debts': sql`
      select coalesce(a.customer_id, d.customer_id) as customer_id, a.owes, d.noted from (
        select customer_id, greatest(0, held_nano_brl + charged_nano_brl + debited_nano_brl - credited_nano_brl) as owes
        from ${of('accounts')} a
      ) a
      full join (select customer_id, sum(amount_nano_brl) as noted from ${of('account_debts')} d group by 1) d using (customer_id)
      where coalesce(a.owes, 0) <> coalesce(d.noted, 0) or a.customer_id is null`,
  }
}

/** The budgets or caps `b` of a table, and which events `e` count in them. */
interface Limit {
  /** As in `archived_spends`. */
  readonly kind: 'key_budget' | 'team_cap' | 'minute_cap' | 'day_cap'
  readonly table: 'api_key_budgets' | 'team_budgets' | 'key_caps'
  readonly period: RawBuilder<unknown>
  readonly isIt: RawBuilder<unknown>
  /** Of the hold `h`. */
  readonly held: RawBuilder<unknown>
  readonly counts: RawBuilder<unknown>
  /** Of the sums of seals. */
  readonly sealed: RawBuilder<unknown>
}

const LIMITS: Readonly<Record<string, Limit>> = {
  'key budgets': {
    kind: 'key_budget',
    table: 'api_key_budgets',
    period: sql`b.period`,
    isIt: sql`true`,
    held: sql`h.budget_pico_usd`,
    counts: sql`e.in_budget`,
    sealed: sql`s.budget_pico_usd`,
  },
  'team caps': {
    kind: 'team_cap',
    table: 'team_budgets',
    period: sql`'month'`,
    isIt: sql`true`,
    held: sql`h.amount_nano_brl`,
    counts: sql`e.in_cap`,
    sealed: sql`s.cap_nano_brl`,
  },
  'key caps of a minute': capOfKey('minute'),
  'key caps of a day': capOfKey('day'),
}

function capOfKey(period: 'minute' | 'day'): Limit {
  return {
    kind: `${period}_cap`,
    table: 'key_caps',
    period: sql`b.period`,
    isIt: sql`b.period = ${period}`,
    held: sql`case when h.in_caps & cap_bit(${period}) <> 0 then h.amount_nano_brl end`,
    counts: sql`e.in_caps & cap_bit(${period}) <> 0`,
    sealed: sql.ref(`s.${period}_cap_nano_brl`),
  }
}

/**
 * `spent` is the amount spent before the budget was set, if that was in the current period, plus the events settled
 * since the budget and its period began. The sum is reset by the first settlement of the next period.
 */
function checksOf(named: string, limit: Limit, scope: AuditScope): Checks {
  const { of, within } = scope
  const isOfTeam = limit.table === 'team_budgets'
  const unit = limit.kind === 'key_budget' ? 'pico_usd' : 'nano_brl'
  const id = sql.ref(isOfTeam ? 'team_id' : 'api_key_id')
  const amount = (name: string) => sql.ref(`b.${name}_${unit}`)
  const excess = sql`${amount('held')} - ${amount('limit')}`
  const rows = sql`${sql.table(limit.table)} b join ${sql.table(isOfTeam ? 'teams' : 'api_keys')} k
    on k.id = b.${id} and ${within(sql`k.customer_id`)} and ${limit.isIt}`
  return {
    [`${named} hold the sum of their open holds`]: sql`
      select b.${id}, ${amount('held')}, coalesce(h.total, 0) as holds from ${rows}
      left join (select ${id}, sum(${limit.held}) as total from ${of('holds')} h group by 1) h on h.${id} = b.${id}
      where ${amount('held')} <> coalesce(h.total, 0)`,
    // By the clock after the snapshot: the hold of a new period does not count the spending of the previous one.
    [`${named} exceed their limits by recorded overruns only`]: sql`
      select b.${id}, ${amount('limit')}, ${amount('held')}, ${amount('spent')}, ${amount('overdrawn')} from ${rows}
      where ${amount('overdrawn')} < ${excess} + case
          when b.period_started_at >= budget_period_start(${limit.period}, b.timezone) then ${amount('spent')} else 0 end
        or ${amount('overdrawn')} > greatest(0, ${excess} + ${amount('spent')})`,
    [`${named} have spent the sum of their charges`]: spentOtherwise(scope, {
      ...limit,
      id,
      billed: limit.kind === 'key_budget' ? BILLED_PICO_USD : sql`e.cost_billed_nano_brl`,
      budgets: sql`(
        select b.${id}, ${amount('spent')} as spent, greatest(b.period_started_at, b.spent_since) as since,
          case when b.spent_since >= b.period_started_at then ${amount('spent_before')} else 0 end as before from ${rows})`,
    }),
  }
}

/** The caps of tasks, whose charges `touchedSessions` compares. */
function taskChecks({ of }: AuditScope): Checks {
  return {
    'task caps hold the sum of their open holds': sql`
      select api_key_id, session_id, t.held_nano_brl, h.total as holds
      from ${of('task_spends')} t
      full join (
        select api_key_id, session_id collate "C" as session_id, sum(amount_nano_brl) as total
        from ${of('holds')} h where in_caps & 4 <> 0 group by 1, 2
      ) h using (api_key_id, session_id)
      where coalesce(t.held_nano_brl, 0) <> coalesce(h.total, 0)`,
    'a task cap is exceeded by recorded overruns only': sql`
      select t.api_key_id, t.session_id, t.limit_nano_brl, t.held_nano_brl, t.spent_nano_brl, t.overdrawn_nano_brl
      from ${of('task_spends')} t
      where t.overdrawn_nano_brl <> greatest(0, t.held_nano_brl + t.spent_nano_brl - t.limit_nano_brl)`,
  }
}

/**
 * Whole seals by their sums; the seal in which the budget began, and unsealed time, by their events. If that seal is
 * archived, by the sum that was stored for it.
 */
function spentOtherwise(
  { of, openEvents }: AuditScope,
  by: Limit & Readonly<Record<'budgets' | 'id' | 'billed', RawBuilder<unknown>>>,
): RawBuilder<unknown> {
  return sql`
    with b as materialized (select * from ${by.budgets} b), parts as (
      select s.${by.id} as id, sum(${by.sealed}) as total
      from b join ${of('audit_seal_sums')} s on s.${by.id} = b.${by.id}
      join audit_seals z on z.number = s.seal_number and z.from_at >= b.since group by 1
      union all
      select b.${by.id}, e.total from b
      join audit_seals z on z.number = (
        select number from audit_seals where from_at < b.since order by from_at desc limit 1) and z.to_at > b.since
        and z.to_at > archived_until()
      cross join lateral (
        select sum(${by.billed}) as total from usage_events e
        where e.${by.id} = b.${by.id} and ${by.counts} and e.settled_at >= b.since and e.settled_at < z.to_at) e
      where exists (
        select from audit_seal_sums s where s.seal_number = z.number and s.${by.id} = b.${by.id})
      union all
      select a.subject_id, a.amount from b join archived_spends a
        on a.subject_id = b.${by.id} and a.kind = ${by.kind} and a.since = b.since and a.month < archived_until()
      union all
      select e.${by.id}, sum(${by.billed})
      from b join ${openEvents} e on e.${by.id} = b.${by.id} and e.settled_at >= b.since
      where ${by.counts} group by 1
    )
    select b.${by.id}, b.spent, b.before + coalesce(s.total, 0) as events from b
    left join (select id, sum(total) as total from parts group by 1) s on s.id = b.${by.id}
    where b.spent <> b.before + coalesce(s.total, 0)`
}

function rollupChecks(scope: AuditScope): Checks {
  const { of, sums } = scope
  return {
    'hourly roll-ups equal the sum of usage events': sql`
      select customer_id, hour_at, api_key_id, model_id, h.cost_billed_nano_brl, e.billed
      from ${of('usage_hours')} h
      full join (
        select customer_id, hour_at, api_key_id, model_id, sum(charged) as charged, sum(released) as released,
          sum(prompt_tokens) as prompt_tokens, sum(completion_tokens) as completion_tokens,
          sum(cost_pico_usd) as cost, sum(billed_nano_brl) as billed
        from ${sums} s group by 1, 2, 3, 4
      ) e using (customer_id, hour_at, api_key_id, model_id)
      where (h.charged_requests, h.released_requests, h.prompt_tokens, h.completion_tokens, h.cost_upstream_pico_usd, h.cost_billed_nano_brl)
        is distinct from (e.charged, e.released, e.prompt_tokens, e.completion_tokens, e.cost, e.billed)`,
    'daily roll-ups end with a day that is over': sql`
      select customer_id, usage_days_until from ${of('accounts')} a where isfinite(usage_days_until)
        and (usage_days_until <> date_trunc('day', usage_days_until, 'UTC') or usage_days_until > now())`,
    'daily roll-ups equal the sum of hourly roll-ups': sql`
      select customer_id, day_at, api_key_id, model_id, d.cost_billed_nano_brl, h.billed
      from ${of('usage_days')} d
      full join (
        select u.customer_id, date_trunc('day', u.hour_at, 'UTC') as day_at, u.api_key_id, u.model_id,
          sum(u.charged_requests) as charged, sum(u.released_requests) as released,
          sum(u.prompt_tokens) as prompt_tokens, sum(u.completion_tokens) as completion_tokens,
          sum(u.cost_upstream_pico_usd) as cost, sum(u.cost_billed_nano_brl) as billed
        from ${of('usage_hours')} u join accounts a on a.customer_id = u.customer_id and u.hour_at < a.usage_days_until
        group by 1, 2, 3, 4
      ) h using (customer_id, day_at, api_key_id, model_id)
      where (d.charged_requests, d.released_requests, d.prompt_tokens, d.completion_tokens, d.cost_upstream_pico_usd, d.cost_billed_nano_brl)
        is distinct from (h.charged, h.released, h.prompt_tokens, h.completion_tokens, h.cost, h.billed)`,
    // Without this, each slice proves the sessions of its own events.
    ...(scope.sealedUntil === '-infinity' ? allSessions(scope) : {}),
  }
}

export const SESSIONS = 'usage sessions equal the sum of their usage events'
const TASKS = 'task caps have spent the sum of their charges'

/** A session has its unarchived events, and one part of each archived month. */
const PARTS_OF_EVENTS = sql`event_charges(outcome, reason) as requests, prompt_tokens::int8, completion_tokens::int8,
  cost_billed_nano_brl, created_at as first_request_at, created_at as last_request_at`
const PARTS_OF_MONTHS = sql`requests, prompt_tokens, completion_tokens, cost_billed_nano_brl, first_request_at, last_request_at`
const SESSION_SUMS = sql`sum(requests) as requests, sum(prompt_tokens) as prompt_tokens,
  sum(completion_tokens) as completion_tokens, sum(cost_billed_nano_brl) as billed,
  min(first_request_at) as first_at, max(last_request_at) as last_at`

export function allSessions({ of, within }: AuditScope): Checks {
  return {
    [SESSIONS]: sql`
      select customer_id, s.cost_billed_nano_brl, e.billed
      from ${of('usage_sessions')} s
      full join (
        select customer_id, session_id, ${SESSION_SUMS} from (
          select customer_id, session_id collate "C" as session_id, ${PARTS_OF_EVENTS}
          from usage_events
          where outcome = 'charged' and session_id is not null and settled_at >= archived_until()
            and ${within(sql`customer_id`)}
          union all
          select customer_id, session_id, ${PARTS_OF_MONTHS} from archived_sessions
          where month < archived_until() and ${within(sql`customer_id`)}
        ) parts group by 1, 2
      ) e using (customer_id, session_id)
      where (s.requests, s.prompt_tokens, s.completion_tokens, s.cost_billed_nano_brl, s.first_request_at, s.last_request_at)
        is distinct from (e.requests, e.prompt_tokens, e.completion_tokens, e.billed, e.first_at, e.last_at)`,
    [TASKS]: spentByTasks(of('task_spends')),
  }
}

function spentByTasks(tasks: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    select t.api_key_id, t.spent_nano_brl, e.total + a.total as events
    from ${tasks} t
    cross join lateral (
      select coalesce(sum(e.cost_billed_nano_brl), 0) as total from usage_events e
      where e.customer_id = t.customer_id and e.session_id = t.session_id collate "default"
        and e.api_key_id = t.api_key_id and e.in_caps & 4 <> 0
        and e.settled_at >= greatest(t.spent_since, archived_until())) e
    cross join lateral (
      select coalesce(sum(a.amount), 0) as total from archived_spends a
      where a.subject_id = t.api_key_id and a.kind = 'task' and a.session_id = t.session_id and a.since = t.spent_since
        and a.month < archived_until()) a
    where t.spent_nano_brl <> e.total + a.total`
}

/** Only the full audit reads longer sessions: each of their calls would read them again. */
const SESSION_REQUESTS_MAX = 1_000

/** Returns the sessions and tasks of these events, with all their events. */
export function touchedSessions(events: RawBuilder<unknown>): Checks {
  return {
    [SESSIONS]: sql`
      select t.customer_id, s.cost_billed_nano_brl, e.billed
      from (
        select distinct customer_id, session_id from ${events} e where outcome = 'charged' and session_id is not null
      ) t
      left join usage_sessions s on s.customer_id = t.customer_id and s.session_id = t.session_id collate "C"
      cross join lateral (
        select ${SESSION_SUMS} from (
          select ${PARTS_OF_EVENTS} from usage_events e
          where e.customer_id = t.customer_id and e.session_id = t.session_id and e.outcome = 'charged'
            and e.settled_at >= archived_until() and coalesce(s.requests, 0) <= ${SESSION_REQUESTS_MAX}
          union all
          select ${PARTS_OF_MONTHS} from archived_sessions a
          where a.customer_id = t.customer_id and a.session_id = t.session_id collate "C" and a.month < archived_until()
        ) parts
      ) e
      where coalesce(s.requests, 0) <= ${SESSION_REQUESTS_MAX} and
        (s.requests, s.prompt_tokens, s.completion_tokens, s.cost_billed_nano_brl, s.first_request_at, s.last_request_at)
        is distinct from (e.requests, e.prompt_tokens, e.completion_tokens, e.billed, e.first_at, e.last_at)`,
    [TASKS]: spentByTasks(
      sql`(
        select t.* from (
          select distinct customer_id, api_key_id, session_id from ${events} e where in_caps & 4 <> 0
        ) e
        join task_spends t on t.api_key_id = e.api_key_id and t.session_id = e.session_id collate "C"
        join usage_sessions s on s.customer_id = e.customer_id and s.session_id = t.session_id
          and s.requests <= ${SESSION_REQUESTS_MAX})`,
    ),
  }
}
