-- What operators do over HTTP: they find customers, adjust balances (large sums by two of them), change
-- markups with the notice that customers are due, and take models out of service.

-- Customers are found by the beginning of what is known of them, and listed newest first.
create index customers_by_time on customers (created_at desc, id desc);
create index customers_by_email_prefix on customers (lower(email) text_pattern_ops);
create index customers_by_name_prefix on customers (lower(name) text_pattern_ops);
create index profiles_by_tax_id_prefix on profiles (tax_id text_pattern_ops);

create table adjustments (
  -- Also the reference of the ledger's entry.
  id uuid primary key,
  customer_id uuid not null references accounts (customer_id),
  kind text not null check (kind in ('credit', 'debit', 'promotional_credit')),
  -- Whole centavos.
  amount_nano_brl int8 not null check (amount_nano_brl > 0 and amount_nano_brl % 10000000 = 0),
  reason text not null check (length(reason) between 3 and 500),
  -- The operator's own: of one reference there is one adjustment.
  reference text not null unique check (length(reference) between 1 and 100),
  status text not null check (status in ('pending', 'posted', 'rejected')),
  requested_by uuid not null references customers (id),
  -- Null too where nobody had to.
  decided_by uuid references customers (id),
  created_at timestamptz not null default now(),
  decided_at timestamptz,
  check ((status = 'pending') = (decided_at is null)),
  check (status <> 'posted' or decided_by is distinct from requested_by)
);
create index adjustments_by_time on adjustments (created_at desc, id desc);
create index adjustments_by_status on adjustments (status, created_at desc, id desc);
create index adjustments_by_customer on adjustments (customer_id, created_at desc, id desc);
create trigger refuse_deleted_customer before insert on adjustments
  for each row execute function refuse_deleted_customer('customer_id');

-- Instead of the markup of the configuration, each from its time on until the next one begins. Who made it,
-- the audit log says.
create table markup_changes (
  id uuid primary key,
  model_id text not null,
  -- Times 10^4.
  markup_e4 int4 not null check (markup_e4 between 10000 and 100000),
  -- What is in force until then.
  markup_before_e4 int4 not null check (markup_before_e4 > 0),
  starts_at timestamptz not null,
  reason text not null check (length(reason) between 3 and 500),
  created_at timestamptz not null default now(),
  canceled_at timestamptz,
  -- Of a rise: up to which customer they were told of it, by id, and when all of them were.
  told_until uuid,
  told_at timestamptz,
  check (canceled_at is null or canceled_at < starts_at)
);
create unique index markup_changes_by_model on markup_changes (model_id, starts_at) where canceled_at is null;
create index markup_changes_untold on markup_changes (created_at)
  where told_at is null and canceled_at is null and markup_e4 > markup_before_e4;

create table disabled_models (
  model_id text primary key,
  reason text not null check (length(reason) between 3 and 500),
  disabled_at timestamptz not null default now()
);

create function notify_catalog_changed() returns trigger language plpgsql as $$
begin
  perform pg_notify('catalog', '');
  return null;
end $$;
-- Not for how far customers were told of it.
create trigger notify_catalog_changed after insert or update of canceled_at on markup_changes
  for each statement execute function notify_catalog_changed();
create trigger notify_catalog_changed after insert or update or delete on disabled_models
  for each statement execute function notify_catalog_changed();

-- What operators look for when something is in trouble.
create index webhook_endpoints_in_trouble on webhook_endpoints (coalesce(disabled_at, failing_since) desc, id desc)
  where deleted_at is null and (disabled_reason in ('gone', 'failing') or failing_since is not null);
create index notifications_failed on notifications (sent_at desc, id desc) where status = 'failed';
create index incidents_by_time on incidents (opened_at desc, id desc);
