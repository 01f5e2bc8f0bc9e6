/**
 * Proves in both directions that money moved for a reason: each entry of the ledger from the row that caused it, and each
 * such row from its entry; the states of top-ups, refunds and parts from their amounts; and what an act set from the
 * audit log, in whose transaction it was set, so that their times are equal to the microsecond. A full audit runs these:
 * they read all entries and acts.
 */
import { sql } from 'kysely'
import { YEARS_KEPT } from '../../platform/audit-log/prune-audit-log.ts'
import type { Checks } from '../ledger/audit/audit-event-checks.ts'

/** The audit log has no older acts. */
const LOGGED_SINCE = sql`now() - make_interval(years => ${sql.lit(YEARS_KEPT)})`

/** The reasons of entries that add up to an amount of their cause, which the first part of their references names. */
const SUMMED = sql`('chargeback', 'top_up_returned', 'referral_taken_back')`

/** `amount_nano_brl` and `at` are null where the cause does not say them. */
const CAUSES = sql`
  select customer_id, 'credit' as kind, 'top_up' as reason, id::text as reference, amount_nano_brl, paid_at as at,
    true as is_certain
  from top_ups where paid_at is not null
  union all
  -- What was returned by no refund of ours. Of a part that was taken for it, the rest was put back.
  select t.customer_id, 'debit', 'returned', t.id::text, t.returned_nano_brl - coalesce(p.by_refunds, 0), null,
    t.returned_nano_brl <> coalesce(p.by_refunds, 0)
  from top_ups t left join (
    select p.top_up_id, sum(p.amount_nano_brl - coalesce(e.amount_nano_brl, 0)) as by_refunds from refund_parts p
    left join ledger_entries e
      on e.reason = 'refund_failed' and e.reference = p.refund_id || ':' || p.top_up_id and p.status = 'taken'
    where p.status in ('done', 'taken') group by 1
  ) p on p.top_up_id = t.id
  union all
  select customer_id, 'debit', 'refund', id::text, amount_nano_brl, created_at, true from refunds
  union all
  select r.customer_id, 'credit', 'refund_rejected', p.refund_id || ':' || p.top_up_id, p.amount_nano_brl, r.decided_at, true
  from refund_parts p join refunds r on r.id = p.refund_id where p.status = 'failed' and r.status = 'rejected'
  union all
  select r.customer_id, 'credit', 'refund_failed', p.refund_id || ':' || p.top_up_id,
    case p.status when 'failed' then p.amount_nano_brl end, null, p.status = 'failed'
  from refund_parts p join refunds r on r.id = p.refund_id
  where p.status = 'taken' or (p.status = 'failed' and r.status <> 'rejected')
  union all
  select customer_id, case kind when 'debit' then 'debit' else 'credit' end,
    case kind when 'promotional_credit' then 'promotion' else 'adjustment' end, id::text, amount_nano_brl, decided_at, true
  from adjustments where status = 'posted'
  union all
  select customer_id, 'credit', 'trial', customer_id::text, amount_nano_brl, granted_at, true from trial_credits
  union all
  select referrer_id, 'credit', 'referral', customer_id::text, reward_nano_brl, rewarded_at, true
  from referrals where rewarded_at is not null
  union all
  select referrer_id, 'debit', 'referral_taken_back', customer_id::text, taken_back_nano_brl, null,
    taken_back_nano_brl > 0
  from referrals
  union all
  select l.customer_id, 'credit', l.details ->> 'reason', coalesce(l.details ->> 'reference', e.reference),
    (l.details ->> 'amount_brl')::numeric * 1000000000, l.created_at, true
  from audit_log l left join ledger_entries e on e.id::text = l.subject_id where l.action = 'account.credited'
  union all
  select l.customer_id, 'debit', 'account_closed', l.customer_id::text, null, l.created_at, true
  from audit_log l where l.action = 'account.deleted' and l.details @> '{"waived": true}'
  union all
  select c.customer_id, 'debit', 'account_closed', c.hold_id::text, null, c.created_at, false
  from charge_corrections c join customers u on u.id = c.customer_id and u.deleted_at <= c.created_at
  union all
  select e.customer_id, 'debit', 'account_closed', e.reason || ':' || e.reference, null, e.created_at, false
  from ledger_entries e join customers u on u.id = e.customer_id and u.deleted_at <= e.created_at where e.kind = 'credit'`

const STARTS_AT = sql`to_char(starts_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/** What acts set, by the row's own columns. A row without `is_certain` may also have come without an act. */
const SET_BY_ACTS = sql`
  select 'topup.created' as action, id::text as id, customer_id, null::uuid as actor_id, created_at as at,
    true as is_certain, jsonb_build_object(
      'method', method, 'amount_brl', ${brl('amount_nano_brl')}, 'is_automatic', is_automatic) as facts
  from top_ups
  union all
  select 'refund.requested', id::text, customer_id, null, created_at, true, null from refunds
  union all
  select case status when 'rejected' then 'refund.rejected' else 'refund.approved' end, id::text, customer_id, null,
    decided_at, status = 'rejected' or decided_at <> created_at, null
  from refunds where decided_at is not null
  union all
  select case when status = 'posted' and decided_by is null then 'adjustment.posted' else 'adjustment.requested' end,
    id::text, customer_id, requested_by, created_at, true,
    jsonb_build_object('kind', kind, 'amount_brl', ${brl('amount_nano_brl')}, 'reference', reference)
  from adjustments
  union all
  select case status when 'posted' then 'adjustment.approved' else 'adjustment.rejected' end, id::text, customer_id,
    -- Somebody decided.
    coalesce(decided_by, customer_id), decided_at, true, null
  from adjustments where status <> 'pending' and (status = 'rejected' or decided_by is not null)
  union all
  select 'referral.recorded', customer_id::text, customer_id, null, created_at, false, null from referrals
  union all
  select 'model.markup_scheduled', id::text, null, null, created_at, true, jsonb_build_object(
    'model_id', model_id, 'from', trim_scale(markup_before_e4 / 10000.0)::text,
    'to', trim_scale(markup_e4 / 10000.0)::text, 'starts_at', ${STARTS_AT}, 'reason', reason)
  from markup_changes
  union all
  select 'model.markup_canceled', id::text, null, null, null, true, null from markup_changes where canceled_at is not null
  union all
  select 'model.prices_set', id::text, null, null, created_at, true,
    jsonb_build_object('model_id', model_id, 'starts_at', ${STARTS_AT}, 'schedule', schedule) from price_changes
  union all
  select 'model.prices_withdrawn', id::text, null, null, withdrawn_at, true, null
  from price_changes where withdrawn_at is not null`

function brl(column: string) {
  return sql`trim_scale(${sql.ref(column)}::numeric / 1000000000)::text`
}

export const CAUSE_CHECKS: Checks = {
  'every entry of the ledger has its cause, and every cause its entry': sql`
    with entries as (
      select customer_id, kind, case when reason in ('chargeback', 'top_up_returned') then 'returned' else reason end as reason,
        case when reason in ${SUMMED} then split_part(reference, ':', 1) else reference end as reference,
        sum(amount_nano_brl) as amount_nano_brl, max(created_at) as at
      from ledger_entries
      -- Play money has no cause; a live database has none of it.
      where not (reason = 'sandbox' and kind = 'credit' and exists (select from installation where mode = 'sandbox'))
      group by 1, 2, 3, 4
    )
    select customer_id, kind, reason, reference, e.amount_nano_brl, c.amount_nano_brl as caused, e.at
    from entries e full join (${CAUSES}) c using (customer_id, kind, reason, reference)
    where (e.at is null and c.is_certain) or e.amount_nano_brl <> c.amount_nano_brl or e.at <> c.at
      or (c.customer_id is null and (e.at > ${LOGGED_SINCE}
        or e.at < (select created_at from customers u where u.id = customer_id)))`,
  'an entry of returned money names its top-up, and what was returned of it': sql`
    select e.id, e.reason, e.reference from ledger_entries e
    left join top_ups t on t.id::text = split_part(e.reference, ':', 1)
    where e.reason in ('chargeback', 'top_up_returned') and (
      e.reference !~ ':[0-9]{1,18}$' or e.created_at < t.paid_at
      or split_part(e.reference, ':', 2)::numeric not between e.amount_nano_brl
        and case when e.reason = 'chargeback' then t.amount_nano_brl else t.returned_nano_brl end
      or (e.reason = 'chargeback' and (t.status <> 'chargeback' or split_part(e.reference, ':', 2)::numeric <> t.amount_nano_brl)))`,
  'the state of a top-up is that of its amounts': sql`
    select t.id, t.status from top_ups t
    where case when t.paid_at is null then t.status not in ('pending', 'expired', 'canceled', 'failed')
      else t.processor_payment_id is null or t.status <> case
        when t.status = 'chargeback' and t.returned_nano_brl = t.amount_nano_brl then 'chargeback'
        when t.refunding_nano_brl > 0 then 'refund_pending'
        when t.returned_nano_brl = t.amount_nano_brl then 'refunded'
        when t.returned_nano_brl > 0 then 'partially_refunded'
        else 'paid' end::top_up_status end`,
  'the state of a refund is that of its parts': sql`
    select r.id, r.status from refunds r
    join lateral (
      select bool_or(p.status in ('waiting', 'sent')) as is_open, bool_or(p.status = 'done') as is_returned,
        bool_or(p.status = 'failed') as is_failed, bool_and(p.status = 'waiting') as waits,
        bool_and(t.paid_at > r.created_at - interval '7 days') as is_withdrawal, bool_or(t.customer_id <> r.customer_id) as is_foreign,
        -- Of a part that was taken, at most the rest was put back.
        bool_or(p.status = 'taken' and e.amount_nano_brl >= p.amount_nano_brl) as is_untaken
      from refund_parts p join top_ups t on t.id = p.top_up_id
      left join ledger_entries e on e.reason = 'refund_failed' and e.reference = p.refund_id || ':' || p.top_up_id
      where p.refund_id = r.id
    ) p on true
    where r.status not in ('requested', 'approved', 'processing') and p.is_open
      or r.status in ('requested', 'approved', 'processing') and not p.is_open
      or (r.status = 'done') <> (not p.is_open and p.is_returned)
      or (r.status = 'requested' and r.decided_at is not null)
      or (r.status in ('approved', 'processing', 'done', 'rejected') and r.decided_at is null)
      or (r.ended_at < r.created_at) or (r.kind = 'withdrawal') <> p.is_withdrawal or p.is_foreign or p.is_untaken`,
  'what an act set is as the audit log says': sql`
    with acts as (
      select action, case when action like 'model.%' then details ->> 'id' when action = 'referral.recorded' then customer_id::text
        else subject_id end as id, customer_id, actor_id, created_at as at,
        details || jsonb_build_object('model_id', subject_id) as details
      from audit_log where action in ('topup.created', 'refund.requested', 'refund.rejected', 'refund.approved',
        'adjustment.posted', 'adjustment.requested', 'adjustment.approved', 'adjustment.rejected', 'referral.recorded',
        'model.markup_scheduled', 'model.markup_canceled', 'model.prices_set', 'model.prices_withdrawn')
    )
    select action, id, a.at from acts a full join (${SET_BY_ACTS}) r using (action, id)
    where r.action is null or (a.at is null and r.is_certain and coalesce(r.at > ${LOGGED_SINCE}, true))
      or a.at <> r.at or a.customer_id <> r.customer_id or a.actor_id <> r.actor_id
      or not coalesce(a.details @> r.facts, true)`,
}
