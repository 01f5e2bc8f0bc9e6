-- Limits what saved cards pay for one customer, however the charge is asked for: BRL 5,000 and ten charges in 24 hours,
-- and three charges by request in an hour. A pending charge counts, and a failed one does not: card_attempts limits
-- those. The customer's row is locked, so that charges at once see each other. The detail of the error is the number of
-- seconds until a charge is possible again.
create function limit_card_charges() returns trigger language plpgsql set search_path from current as $$
declare
  v_daily_nano_brl constant int8 := 5000 * 1000000000::int8;
  v_daily_count constant int4 := 10;
  v_hourly_count constant int4 := 3;
  v_sum int8;
  v_count int4;
  v_recent int4;
  v_first timestamptz;
  v_first_recent timestamptz;
  v_until timestamptz;
begin
  perform 1 from customers where id = new.customer_id for no key update;
  select coalesce(sum(amount_nano_brl), 0), count(*), min(created_at),
    count(*) filter (where is_recent), min(created_at) filter (where is_recent)
  into v_sum, v_count, v_first, v_recent, v_first_recent
  from (
    select amount_nano_brl, created_at,
      not is_automatic and created_at > clock_timestamp() - interval '1 hour' as is_recent
    from top_ups
    where customer_id = new.customer_id and method = 'card' and (paid_at is not null or status = 'pending')
      and created_at > clock_timestamp() - interval '24 hours'
  ) counted;
  if v_sum + new.amount_nano_brl > v_daily_nano_brl or v_count >= v_daily_count then
    v_until := coalesce(v_first, clock_timestamp()) + interval '24 hours';
  elsif v_recent >= v_hourly_count and not new.is_automatic then
    v_until := v_first_recent + interval '1 hour';
  end if;
  if v_until is not null then
    raise exception 'the saved cards of customer % are charged no more for now', new.customer_id
      using errcode = 'CC001',
        detail = greatest(1, ceil(extract(epoch from v_until - clock_timestamp())))::int4::text;
  end if;
  return new;
end $$;

create or replace trigger limit_card_charges before insert on top_ups
  for each row when (new.method = 'card') execute function limit_card_charges();
