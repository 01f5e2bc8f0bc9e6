-- Customers keep cards at the payment processor, top up with them, and have it done when the balance is low.

-- Of a card only what its holder knows it by. The number and the ccv are nowhere.
create table payment_methods (
  id uuid primary key,
  customer_id uuid not null references customers (id),
  processor text not null,
  -- What the processor charges the card by; sealed with the row's id.
  token_sealed bytea not null,
  brand text,
  last_four text not null check (last_four ~ '^[0-9]{4}$'),
  holder_name text not null check (length(holder_name) <= 100),
  expiry_month int2 not null check (expiry_month between 1 and 12),
  expiry_year int2 not null,
  created_at timestamptz not null default now()
);
create index payment_methods_by_customer on payment_methods (customer_id, created_at);
create trigger refuse_deleted_customer before insert on payment_methods
  for each row execute function refuse_deleted_customer('customer_id');

-- Cards that were refused, or whose answer has not come: whoever tries stolen ones is stopped after some.
create table card_attempts (
  id uuid primary key,
  customer_id uuid not null references customers (id),
  created_at timestamptz not null default now()
);
create index card_attempts_by_customer on card_attempts (customer_id, created_at);
create trigger refuse_deleted_customer before insert on card_attempts
  for each row execute function refuse_deleted_customer('customer_id');

alter table top_ups
  drop constraint top_ups_method_check,
  add constraint top_ups_method_check check (method in ('pix', 'boleto', 'card')),
  -- The card may be gone; what receipts say of it stays.
  add column payment_method_id uuid,
  add column card_brand text,
  add column card_last_four text,
  -- The processor, or the issuer, looks at it before it is taken.
  add column was_in_review bool not null default false,
  add column is_automatic bool not null default false,
  add check ((method = 'card') = (card_last_four is not null)),
  add check (method = 'card' or not is_automatic);
-- Never two in flight.
create unique index top_ups_automatic_pending on top_ups (customer_id) where is_automatic and status = 'pending';
create index top_ups_automatic on top_ups (customer_id, created_at) where is_automatic;

create table automatic_top_ups (
  customer_id uuid primary key references accounts (customer_id),
  is_enabled bool not null,
  -- Below this balance the amount is charged to the card.
  threshold_nano_brl int8 not null check (threshold_nano_brl >= 0),
  amount_nano_brl int8 not null check (amount_nano_brl > 0 and amount_nano_brl % 10000000 = 0),
  payment_method_id uuid references payment_methods (id) on delete set null,
  monthly_limit_nano_brl int8 check (monthly_limit_nano_brl > 0),
  -- Where the customer was who switched it on: the processor wants the buyer's address.
  remote_ip text not null,
  failures_in_row int4 not null default 0,
  disabled_reason text check (disabled_reason in ('card_rejected', 'payment_method_deleted')),
  tried_at timestamptz not null default '-infinity',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check (not is_enabled or (payment_method_id is not null and disabled_reason is null))
);
create index automatic_top_ups_enabled on automatic_top_ups (tried_at) where is_enabled;
create index automatic_top_ups_by_card on automatic_top_ups (payment_method_id);
create trigger refuse_deleted_customer before insert on automatic_top_ups
  for each row execute function refuse_deleted_customer('customer_id');
