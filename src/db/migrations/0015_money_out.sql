-- Money goes out: refunds. Beside it what is never refunded (promotional credit), and accounts that are
-- suspended until somebody has looked.

alter type top_up_status add value 'refund_pending';
alter type top_up_status add value 'partially_refunded';
alter type top_up_status add value 'refunded';

alter table top_ups
  -- Set aside: taken out of the balance for refunds that are not done yet.
  add column refunding_nano_brl int8 not null default 0,
  add check (refunding_nano_brl >= 0 and returned_nano_brl + refunding_nano_brl <= amount_nano_brl),
  add check (paid_at is not null or refunding_nano_brl = 0);

alter table accounts
  -- What there was of promotional credit when the charges were at the second of these. Charges since then
  -- have spent it first: so it is known without a write on the way of a call.
  add column promotional_nano_brl nano_brl not null default 0,
  add column promotional_at_charged_nano_brl nano_brl not null default 0;

alter table customers
  -- Model calls are refused; everything else goes on.
  add column suspended_at timestamptz,
  add column suspended_reason text check (suspended_reason in ('chargeback', 'operator')),
  add check ((suspended_at is null) = (suspended_reason is null));

-- The money is taken out of the balance when it is asked for, and put back where it cannot be returned.
create table refunds (
  id uuid primary key,
  customer_id uuid not null references accounts (customer_id),
  -- Whole centavos, the sum of the parts.
  amount_nano_brl int8 not null check (amount_nano_brl > 0 and amount_nano_brl % 10000000 = 0),
  -- `withdrawal`: within the seven days of the law, for whose sums there is no minimum.
  kind text not null check (kind in ('withdrawal', 'request')),
  status text not null
    check (status in ('requested', 'approved', 'processing', 'done', 'rejected', 'failed')),
  -- Why the customer asks.
  reason text check (length(reason) <= 500),
  -- Why it was rejected, for the customer to read.
  decision_note text check (length(decision_note) <= 500),
  created_at timestamptz not null default now(),
  decided_at timestamptz,
  ended_at timestamptz
);
create index refunds_by_customer on refunds (customer_id, created_at desc, id desc);
create index refunds_open on refunds (created_at, id) where status in ('requested', 'approved', 'processing');
create trigger refuse_deleted_customer before insert on refunds
  for each row execute function refuse_deleted_customer('customer_id');

-- A refund goes back by the payments that it came from.
create table refund_parts (
  refund_id uuid not null references refunds (id),
  top_up_id uuid not null references top_ups (id),
  amount_nano_brl int8 not null check (amount_nano_brl > 0 and amount_nano_brl % 10000000 = 0),
  -- `sent`: the processor was asked, and may have done it. `taken`: it went back to the payer in another way.
  status text not null default 'waiting'
    check (status in ('waiting', 'sent', 'done', 'failed', 'taken')),
  -- By no means of the processor: an operator transfers it.
  is_manual bool not null default false,
  error text,
  tries int4 not null default 0,
  due_at timestamptz not null default now(),
  primary key (refund_id, top_up_id)
);
create index refund_parts_by_top_up on refund_parts (top_up_id);
create index refund_parts_open on refund_parts (due_at) where status in ('waiting', 'sent');
