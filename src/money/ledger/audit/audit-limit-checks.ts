/**
 * Checks of limits: those of keys and teams are the ones that the last act set, by the audit log, and the rows that count
 * them are there and whole. A full audit runs these.
 */
import { sql } from 'kysely'
import { KEPT_DAYS } from '../prune-tasks.ts'
import type { Checks } from './audit-event-checks.ts'
import type { AuditScope } from './audit-scope.ts'

export function limitChecks({ of, within }: AuditScope): Checks {
  return {
    // Acts of more than six years ago are deleted; an act that changed no limit has none.
    'the limits of keys and teams are those that their last act set': sql`
      select id, action, limits from (
        select distinct on (subject_id) subject_id::uuid as id, action, details -> 'limits' as limits from audit_log
        where action in ('api_key.created', 'api_key.changed', 'team.created', 'team.changed')
          and details ? 'limits' and ${within(sql`customer_id`)}
        order by subject_id, (details -> 'limits' ->> 'at')::timestamptz desc
      ) l where limits - 'at' is distinct from limits_of(id) - 'at'`,
    'a key knows whether it has a budget and caps, and is of a team of its customer': sql`
      select k.id, k.has_budget, k.has_caps, k.team_id from ${of('api_keys')} k left join teams t on t.id = k.team_id
      where k.has_budget <> exists (select from api_key_budgets b where b.api_key_id = k.id)
        or k.has_caps <> exists (select from key_caps c where c.api_key_id = k.id)
        or (k.team_id is not null and t.customer_id is distinct from k.customer_id)`,
    'a key that was revoked stays so': sql`
      select k.id from ${of('api_keys')} k
      join ${of('audit_log')} l on l.customer_id = k.customer_id and l.subject_id = k.id::text and l.action = 'api_key.revoked'
      where k.revoked_at is null`,
    'every team has its cap, and every budget and cap counts from the start of a period': sql`
      select b.* from (
        select t.customer_id, t.id, 'month' as period, b.timezone, b.period_started_at from teams t left join team_budgets b on b.team_id = t.id
        union all select k.customer_id, k.id, b.period, b.timezone, b.period_started_at from api_keys k join api_key_budgets b on b.api_key_id = k.id
        union all select k.customer_id, k.id, b.period, b.timezone, b.period_started_at from api_keys k join key_caps b on b.api_key_id = k.id
      ) b where ${within(sql`b.customer_id`)} and (b.timezone is null or isfinite(b.period_started_at)
        and b.period_started_at <> budget_period_start(b.period, b.timezone, b.period_started_at))`,
    // The cap that holds is the key's; a task has a copy of its last hold, until the key changes.
    'every capped task is counted, with the cap of its key, until it rests': sql`
      select api_key_id, session_id, t.limit_nano_brl, e.last_at from ${of('task_spends')} t
      full join (
        select api_key_id, session_id collate "C" as session_id, max(created_at) as last_at from usage_events
        where in_caps & 4 <> 0 and session_id is not null and corrects_id is null and ${within(sql`customer_id`)} group by 1, 2
      ) e using (api_key_id, session_id)
      join api_keys k on k.id = api_key_id join customers u on u.id = k.customer_id and u.deleted_at is null
      where (t.customer_id is null and e.last_at > now() - make_interval(days => ${KEPT_DAYS}))
        or t.customer_id <> k.customer_id or t.last_held_at < e.last_at
        or (t.limit_nano_brl is distinct from k.task_limit_nano_brl and t.customer_id is not null and not exists (
          select from audit_log l where l.customer_id = k.customer_id and l.subject_id = k.id::text
            and l.action = 'api_key.changed' and l.created_at > t.last_held_at))`,
    "an open hold is its key's, and has a stored price and exchange rate": sql`
      select h.id from ${of('holds')} h left join prices p on p.id = h.price_id left join fx_rates f on f.id = h.fx_rate_id
      left join api_keys k on k.id = h.api_key_id
      where p.id is null or f.rate_e4 is distinct from h.fx_rate_e4
        or (h.customer_id, h.team_id) is distinct from (k.customer_id, k.team_id)`,
    'every customer has an account': sql`
      select c.id from customers c left join accounts a on a.customer_id = c.id where a.customer_id is null and ${within(sql`c.id`)}`,
  }
}
