-- Promotional credits for new customers to try the service with. The digests are HMACs; they outlive changes of the
-- profile and the deletion of the account, so that nobody gets a second credit by starting anew.
create table public.trial_credits (
  -- No foreign key: the row stays when the customer is erased.
  customer_id uuid primary key,
  amount_nano_brl int8 not null check (amount_nano_brl > 0),
  tax_id_digest bytea not null unique,
  mailbox_digest bytea not null unique,
  -- Null: the request came without a device's cookie.
  device_digest bytea unique,
  network_digest bytea not null,
  granted_at timestamptz not null default now()
);
create index trial_credits_by_time on public.trial_credits (granted_at);
