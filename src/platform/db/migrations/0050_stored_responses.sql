-- Answers of /v1/responses are stored for accounts that ask for it, for as many days as they say. Null: none is.
alter table public.customers add column stored_responses_days int check (stored_responses_days between 1 and 30);

-- One response with its own input; the conversation before it is the chain of `previous_id`.
create table public.stored_responses (
  id uuid primary key,
  customer_id uuid not null references public.customers (id),
  api_key_id uuid not null references public.api_keys (id),
  -- No foreign key: the response before may be deleted.
  previous_id uuid,
  -- It broke off, and cannot be continued.
  is_failed boolean not null,
  input_bytes int not null check (input_bytes > 0),
  response_bytes int not null check (response_bytes > 0),
  input_sealed bytea not null,
  response_sealed bytea not null,
  created_at timestamptz not null default now()
);
-- Sealed contents are as good as random: compressing them would be in vain. `create table` takes this from PostgreSQL 16 on.
alter table public.stored_responses
  alter column input_sealed set storage external, alter column response_sealed set storage external;
create index stored_responses_newest on public.stored_responses (customer_id, created_at desc, id desc)
  include (input_bytes, response_bytes);
