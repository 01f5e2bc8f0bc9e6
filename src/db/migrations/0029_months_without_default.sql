-- A month's partition is made while snapshots are open and calls settle: no partition is the default any more,
-- because attaching a month beside a default one locks that one against everybody.

-- Settlements wait for this migration. Nothing is written between here and its end.
lock table usage_events in access exclusive mode;
alter table usage_events detach partition usage_events_other;

-- Months are cut in UTC. `usage_events_past` holds what is older than the first of them; a row later than the
-- last of them is refused. Safe on many nodes at once: one makes the months, the others wait and find them.
-- A lock that is not had in a fifth of a second fails the whole call, so that nobody queues behind it.
create or replace function ensure_usage_partitions(months_ahead int) returns int
language plpgsql set lock_timeout = '200ms' as $$
declare
  v_this_month timestamp := date_trunc('month', now() at time zone 'UTC');
  v_first_month timestamp;
  v_month timestamp;
  v_name text;
  v_made int := 0;
begin
  perform pg_advisory_xact_lock(hashtextextended('usage_events months', 0));
  -- From the end of the past on, so that no month is left out between two.
  select substring(pg_get_expr(c.relpartbound, c.oid) from 'TO \(''([^'']+)''\)')::timestamptz at time zone 'UTC'
    into v_first_month from pg_class c where c.oid = to_regclass('usage_events_past');
  for v_month in
    select generate_series(coalesce(v_first_month, v_this_month),
      v_this_month + make_interval(months => months_ahead), interval '1 month')
  loop
    v_name := 'usage_events_' || to_char(v_month, 'YYYY_MM');
    continue when to_regclass(v_name) is not null;
    -- `create table … partition of` would lock `usage_events` against everybody who reads it. Attaching locks it
    -- against other changes of its shape only.
    execute format('create table %I (like usage_events including all)', v_name);
    execute format('alter table usage_events attach partition %I for values from (%L) to (%L)', v_name,
      v_month at time zone 'UTC', (v_month + interval '1 month') at time zone 'UTC');
    v_made := v_made + 1;
  end loop;
  return v_made;
end $$;

-- What lies in the default partition goes to its month, or to the past.
do $$
declare
  v_this_month timestamp := date_trunc('month', now() at time zone 'UTC');
  v_first_month timestamp;
  v_last_month timestamp;
  v_ahead interval;
begin
  select coalesce(min(to_date(right(c.relname, 7), 'YYYY_MM')), v_this_month) into v_first_month
    from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'usage_events'::regclass and c.relname ~ '^usage_events_\d{4}_\d{2}$';
  execute format('create table usage_events_past partition of usage_events for values from (minvalue) to (%L)',
    v_first_month at time zone 'UTC');
  select date_trunc('month', greatest(max(created_at), now()) at time zone 'UTC') into v_last_month
    from usage_events_other;
  v_ahead := age(v_last_month, v_this_month);
  perform ensure_usage_partitions(greatest(3, (extract(year from v_ahead) * 12 + extract(month from v_ahead))::int));
end $$;
insert into usage_events select * from usage_events_other;
drop table usage_events_other;
