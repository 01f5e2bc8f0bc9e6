-- Customers are told of events at addresses of theirs, by signed messages that are tried again for days.

create table webhook_endpoints (
  id uuid primary key,
  customer_id uuid not null references customers (id),
  url text not null check (length(url) between 1 and 2000),
  description text,
  -- Null: every type, and those that come later too.
  event_types text[],
  -- What messages are signed with; sealed for this row.
  secret_sealed bytea,
  created_at timestamptz not null default now(),
  disabled_at timestamptz,
  -- By the customer; by an answer 410; by failing from the first try of a message to its last.
  disabled_reason text check (disabled_reason in ('customer', 'gone', 'failing')),
  -- When the first try after the last success failed.
  failing_since timestamptz,
  deleted_at timestamptz,
  check ((disabled_at is null) = (disabled_reason is null)),
  check ((deleted_at is null) = (secret_sealed is not null))
);
create index webhook_endpoints_by_customer on webhook_endpoints (customer_id, created_at, id);
create index webhook_endpoints_deleted on webhook_endpoints (deleted_at) where deleted_at is not null;
create trigger refuse_deleted_customer before insert on webhook_endpoints
  for each row execute function refuse_deleted_customer('customer_id');

-- A try to deliver a message: the next one is a row of its own.
create table webhook_attempts (
  -- The delivery_id.
  id uuid primary key,
  endpoint_id uuid not null references webhook_endpoints (id),
  customer_id uuid not null references customers (id),
  -- The event's id: the same for all tries and replays, so that a receiver takes a message once.
  message_id uuid not null,
  event_type text not null,
  -- The very bytes that are sent and signed.
  body text not null check (octet_length(body) < 20000),
  try_number int4 not null default 1 check (try_number > 0),
  is_replay boolean not null default false,
  -- Of the tries of this message: when the first one failed.
  first_failed_at timestamptz,
  status text not null default 'queued' check (status in ('queued', 'running', 'delivered', 'failed')),
  due_at timestamptz not null default now(),
  -- Who runs it, and until when that is believed: then it is due again.
  lease_id uuid,
  leased_until timestamptz,
  http_status int4,
  latency_ms int4,
  -- The beginning of what was answered.
  response_head text check (octet_length(response_head) <= 2048),
  error text,
  created_at timestamptz not null default now(),
  finished_at timestamptz,
  check ((status = 'running') = (lease_id is not null and leased_until is not null)),
  check ((status in ('delivered', 'failed')) = (finished_at is not null))
);
create index webhook_attempts_due on webhook_attempts (due_at) where status = 'queued';
create index webhook_attempts_waiting on webhook_attempts (endpoint_id, due_at, id) where status = 'queued';
create index webhook_attempts_running on webhook_attempts (leased_until, endpoint_id, customer_id)
  where status = 'running';
create index webhook_attempts_by_endpoint on webhook_attempts (endpoint_id, created_at desc, id desc);
create index webhook_attempts_by_customer on webhook_attempts (customer_id, created_at desc, id desc);
create index webhook_attempts_by_time on webhook_attempts (created_at);
create trigger refuse_deleted_customer before insert on webhook_attempts
  for each row execute function refuse_deleted_customer('customer_id');
