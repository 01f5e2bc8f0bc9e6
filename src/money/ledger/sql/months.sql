-- Creates the missing partitions of `usage_events`, up to `months_ahead` months from now, and returns their number.
-- Months begin and end in UTC. `usage_events_past` holds the events older than the first month; an event later than the
-- last month is refused. Nodes may run it concurrently: one creates the months, the others wait and find them. A lock that
-- is not granted within a fifth of a second fails the whole call, so that no settlement queues behind it.
create function ensure_usage_partitions(months_ahead int) returns int
language plpgsql set lock_timeout = '200ms' as $$
declare
  v_this_month timestamp := date_trunc('month', now() at time zone 'UTC');
  v_first_month timestamp;
  v_month timestamp;
  v_name text;
  v_made int := 0;
begin
  perform pg_advisory_xact_lock(hashtextextended('usage_events months', 0));
  -- Starts at the end of `usage_events_past`, so that no month in between is left out.
  select substring(pg_get_expr(c.relpartbound, c.oid) from 'TO \(''([^'']+)''\)')::timestamptz at time zone 'UTC'
    into v_first_month from pg_class c where c.oid = to_regclass('usage_events_past');
  for v_month in
    select generate_series(coalesce(v_first_month, v_this_month),
      v_this_month + make_interval(months => months_ahead), interval '1 month')
  loop
    v_name := 'usage_events_' || to_char(v_month, 'YYYY_MM');
    continue when to_regclass(v_name) is not null;
    -- `create table … partition of` would lock `usage_events` against all readers. Attaching a table locks it only
    -- against other schema changes.
    execute format('create table public.%I (like usage_events including all)', v_name);
    execute format('alter table usage_events attach partition %I for values from (%L) to (%L)', v_name,
      v_month at time zone 'UTC', (v_month + interval '1 month') at time zone 'UTC');
    v_made := v_made + 1;
  end loop;
  return v_made;
end $$;

-- The end of the months whose events are in files; -infinity without one. What was settled before it is read from the
-- files, also while rows of it are still in `usage_events`, and after that only a few stay there (`months/kept-events.ts`).
create function archived_until() returns timestamptz language sql stable parallel safe as $$
  select coalesce(
    (select (max(month) + interval '1 month') at time zone 'UTC' from archived_months where archived_at is not null),
    '-infinity')
$$;
