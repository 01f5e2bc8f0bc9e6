-- Videos that were asked for. The id is that of the hold and of its usage event: while `due_at` is set, the row keeps the
-- hold from the reconciliation of dead nodes, and a job asks the upstream.
create table videos (
  id uuid primary key,
  customer_id uuid not null references customers,
  api_key_id uuid not null references api_keys,
  model_id text not null,
  upstream_id text not null,
  -- The upstream's name of the job, which no customer sees.
  upstream_job text not null,
  price_id integer not null,
  -- Of the price that bills a second.
  unit text not null,
  -- Those that were asked for, and once the video is done, those that are charged.
  seconds integer not null check (seconds > 0),
  size text,
  status text not null default 'queued' check (status in ('queued', 'in_progress', 'completed', 'failed')),
  progress smallint not null default 0 check (progress between 0 and 100),
  error_code text,
  created_at timestamptz not null default now(),
  completed_at timestamptz,
  due_at timestamptz,
  tries integer not null default 0,
  check ((due_at is null) = (completed_at is not null)),
  check ((completed_at is null) = (status in ('queued', 'in_progress')))
);
create index videos_by_customer on videos (customer_id, id);
create index videos_due on videos (due_at) where due_at is not null;
create index videos_by_end on videos (completed_at) where completed_at is not null;
