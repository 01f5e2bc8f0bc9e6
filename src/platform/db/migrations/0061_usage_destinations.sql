-- Where customers have their usage sent: a Langfuse, or any collector that takes OTLP over HTTP. Each row is the cursor of its
-- destination over the usage events of its customer, in the order of `settled_at` and `id`; a worker claims it.
create table public.usage_destinations (
  id uuid primary key,
  customer_id uuid not null references public.customers (id),
  kind text not null check (kind in ('langfuse', 'otlp')),
  url text not null,
  -- The headers of a request, as JSON.
  secret_sealed bytea not null,
  -- What of it is shown.
  public_key text,
  header_names text[] not null,
  includes_content boolean not null,
  created_at timestamptz not null default now(),
  disabled_at timestamptz,
  disabled_reason text check (disabled_reason in ('customer', 'failing')),
  -- The last event that was sent; the id of zeros: all before this time.
  sent_until timestamptz not null default clock_timestamp(),
  sent_id uuid not null default '00000000-0000-0000-0000-000000000000',
  due_at timestamptz not null default now(),
  -- Grows with each claim and each change: who comes late records nothing.
  tries int4 not null default 0,
  failures int4 not null default 0,
  failing_since timestamptz,
  -- Of the last batch; null: none was ever answered.
  latency_ms int4,
  last_success_at timestamptz,
  last_failed_at timestamptz,
  last_error text,
  last_http_status int4,
  last_answer text,
  sent int8 not null default 0,
  rejected int8 not null default 0,
  given_up int8 not null default 0,
  test_asked_at timestamptz,
  tested_at timestamptz,
  test_error text,
  check ((disabled_at is null) = (disabled_reason is null))
) with (fillfactor = 60);
create index usage_destinations_by_customer on public.usage_destinations (customer_id, created_at);
