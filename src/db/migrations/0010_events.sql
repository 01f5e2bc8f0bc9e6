-- Facts that customers are told of, by mail and by webhook: written in the transaction of the fact, and
-- handed on by a worker afterwards, once.
create table events (
  id uuid primary key,
  customer_id uuid not null references customers (id),
  type text not null check (type ~ '^[a-z_]+(\.[a-z_]+)+$'),
  -- As customers see it.
  data jsonb not null,
  created_at timestamptz not null default now(),
  dispatched_at timestamptz,
  -- Of the handing on, where it failed.
  tries int4 not null default 0,
  due_at timestamptz not null default now()
);
create index events_waiting on events (due_at, id) where dispatched_at is null;
create index events_by_customer on events (customer_id, created_at desc, id desc);
create trigger refuse_deleted_customer before insert on events
  for each row execute function refuse_deleted_customer('customer_id');
