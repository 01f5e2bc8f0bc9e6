-- The answers of acts that carried an `Idempotency-Key`, for a day, so that a repeated request acts only once.
create table public.idempotency_keys (
  -- Also the id of what a resumed act creates.
  id uuid primary key,
  customer_id uuid not null references public.customers (id),
  -- Null: a login session. No foreign key: the rows of a key go with the account or after a day.
  api_key_id uuid,
  -- Of the caller and the key that it sent.
  key_digest bytea not null,
  -- The request's digest and, once there is one, the answer.
  content_sealed bytea not null,
  is_answered boolean not null,
  -- An act that calls another service runs at most until then; null: it does not run.
  running_until timestamptz,
  created_at timestamptz not null default now(),
  unique (customer_id, key_digest),
  check (running_until is null or not is_answered)
);
-- Sealed contents cannot be compressed. `create table` takes this from PostgreSQL 16 on.
alter table public.idempotency_keys alter column content_sealed set storage external;
create index idempotency_keys_oldest on public.idempotency_keys (created_at);
