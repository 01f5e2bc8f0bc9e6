-- How many model calls of each customer were answered with an error, by the hour in UTC. Counts, no calls: refusals are
-- where an attacker hammers. The model is one of the catalog, or null; no text of a client is stored.
create table public.usage_refusals (
  customer_id uuid not null references public.customers (id),
  hour_at timestamptz not null,
  id uuid not null default gen_random_uuid(),
  -- Null: an hour of more keys and models than are counted one by one.
  api_key_id uuid references public.api_keys (id),
  model_id text,
  code text not null,
  status smallint not null,
  refusals bigint not null check (refusals > 0),
  first_at timestamptz not null,
  last_at timestamptz not null,
  primary key (customer_id, hour_at, id),
  constraint usage_refusals_counted
    unique nulls not distinct (customer_id, hour_at, api_key_id, model_id, code, status)
);
-- Rows come in the order of time: this finds those that are over by a few pages.
create index usage_refusals_by_hour on public.usage_refusals using brin (hour_at);
