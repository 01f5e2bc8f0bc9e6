-- The number of charged calls that an event counts for: -1 for a reversal.
create function event_charges(p_outcome call_outcome, p_reason text) returns int8 language sql immutable parallel safe as $$
  select case when p_outcome <> 'charged' then 0 when p_reason is not distinct from 'reversal' then -1 else 1 end::int8
$$;

-- A customer's usage from `p_from` until before `p_to`, to the microsecond: whole days from usage_days, whole hours around
-- them from usage_hours, and single events of hours that the bounds cut. It may return several rows for the same key and
-- model; the caller adds them up. With `infinity` as the end no hour is cut there.
create function usage_between(p_customer_id uuid, p_from timestamptz, p_to timestamptz)
returns table (
  api_key_id uuid, model_id text, charged_requests int8, released_requests int8,
  prompt_tokens int8, completion_tokens int8, cost_upstream_pico_usd int8, cost_billed_nano_brl int8
) language plpgsql stable as $$
declare
  v_hours_from timestamptz := date_trunc('hour', p_from + interval '1 hour' - interval '1 microsecond');
  v_hours_to timestamptz := greatest(v_hours_from, date_trunc('hour', p_to));
  v_days_from timestamptz := date_trunc('day', p_from + interval '1 day' - interval '1 microsecond', 'UTC');
  v_days_to timestamptz;
begin
  select least(date_trunc('day', p_to, 'UTC'), a.usage_days_until) into v_days_to
  from accounts a where a.customer_id = p_customer_id;
  if v_days_to > v_days_from then
    return query select d.api_key_id, d.model_id, sum(d.charged_requests)::int8, sum(d.released_requests)::int8,
      sum(d.prompt_tokens)::int8, sum(d.completion_tokens)::int8,
      sum(d.cost_upstream_pico_usd)::int8, sum(d.cost_billed_nano_brl)::int8
    from usage_days d where d.customer_id = p_customer_id and d.day_at >= v_days_from and d.day_at < v_days_to
    group by 1, 2;
  else
    v_days_from := v_hours_from;
    v_days_to := v_hours_from;
  end if;
  return query select h.api_key_id, h.model_id, sum(h.charged_requests)::int8, sum(h.released_requests)::int8,
    sum(h.prompt_tokens)::int8, sum(h.completion_tokens)::int8,
    sum(h.cost_upstream_pico_usd)::int8, sum(h.cost_billed_nano_brl)::int8
  from (
    select * from usage_hours h
    where h.customer_id = p_customer_id and h.hour_at >= v_hours_from and h.hour_at < v_days_from
    union all
    select * from usage_hours h
    where h.customer_id = p_customer_id and h.hour_at >= v_days_to and h.hour_at < v_hours_to
  ) h
  group by 1, 2;
  return query select e.api_key_id, e.model_id, event_charges(e.outcome, e.reason), (e.outcome = 'released')::int4::int8,
    e.prompt_tokens::int8, e.completion_tokens::int8, e.cost_upstream_pico_usd::int8, e.cost_billed_nano_brl::int8
  from usage_events e
  where e.customer_id = p_customer_id and e.created_at >= p_from and e.created_at < least(v_hours_from, p_to)
  union all
  select e.api_key_id, e.model_id, event_charges(e.outcome, e.reason), (e.outcome = 'released')::int4::int8,
    e.prompt_tokens::int8, e.completion_tokens::int8, e.cost_upstream_pico_usd::int8, e.cost_billed_nano_brl::int8
  from usage_events e
  where e.customer_id = p_customer_id and e.created_at >= v_hours_to and e.created_at < p_to;
end $$;

alter function usage_between(uuid, timestamptz, timestamptz) set enable_sort = off;

-- The midnight at which the last `p_days` days begin in this time zone, today included.
create function first_day_start(p_timezone text, p_days int4) returns timestamptz
language sql stable as $$
  select (date_trunc('day', now() at time zone p_timezone) - make_interval(days => p_days - 1)) at time zone p_timezone
$$;
