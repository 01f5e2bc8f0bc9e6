-- Sums up finished days, at most a month of them: settlements wait for the lock on the account meanwhile, and must not wait
-- for long. Each settlement is either in the hours that are read here, or sees the new `usage_days_until` and adds to the
-- days itself.
create function roll_usage_days(p_customer_id uuid) returns void language plpgsql as $$
declare
  v_from timestamptz;
  v_until timestamptz := date_trunc('day', now(), 'UTC');
begin
  select usage_days_until into v_from from accounts where customer_id = p_customer_id for no key update;
  select min(hour_at) into v_from from usage_hours
  where customer_id = p_customer_id and hour_at >= v_from and hour_at < v_until;
  if v_from is null then
    return;
  end if;
  v_until := least(v_until, date_trunc('day', v_from, 'UTC') + interval '31 days');
  insert into usage_days
  select customer_id, date_trunc('day', hour_at, 'UTC'), api_key_id, model_id,
    sum(charged_requests), sum(released_requests), sum(prompt_tokens), sum(completion_tokens),
    sum(cost_upstream_pico_usd), sum(cost_billed_nano_brl)
  from usage_hours where customer_id = p_customer_id and hour_at >= v_from and hour_at < v_until
  group by 1, 2, 3, 4;
  update accounts set usage_days_until = v_until where customer_id = p_customer_id;
end $$;
