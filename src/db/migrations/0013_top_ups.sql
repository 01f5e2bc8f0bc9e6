-- Money comes in: top-ups through a payment processor, what the processor tells of them, and the word that
-- a balance is used up or there again.

-- Who a customer is at the processor.
create table processor_customers (
  customer_id uuid not null references customers (id),
  processor text not null,
  processor_customer_id text not null,
  primary key (customer_id, processor)
);

create type top_up_status as enum ('pending', 'paid', 'expired', 'canceled', 'failed', 'chargeback');

create table top_ups (
  -- Also the reference of ours that the processor is given.
  id uuid primary key,
  customer_id uuid not null references accounts (customer_id),
  -- Whole centavos.
  amount_nano_brl int8 not null check (amount_nano_brl > 0 and amount_nano_brl % 10000000 = 0),
  method text not null check (method in ('pix', 'boleto')),
  status top_up_status not null default 'pending',
  processor text not null,
  -- Null until the processor has answered; by our reference it is found all the same.
  processor_payment_id text,
  pix_payload text,
  pix_qr_code_base64 text,
  boleto_url text,
  boleto_line text,
  -- The processor's own page, where it can be paid too.
  page_url text,
  expires_at timestamptz,
  created_at timestamptz not null default now(),
  -- When it was credited: once, whatever its status was before and is later.
  paid_at timestamptz,
  -- What of it went back to the payer; it was taken out of the balance.
  returned_nano_brl int8 not null default 0
    check (returned_nano_brl between 0 and case when paid_at is null then 0 else amount_nano_brl end),
  -- When the processor was asked last.
  checked_at timestamptz not null default now(),
  unique (processor, processor_payment_id)
);
create index top_ups_by_customer on top_ups (customer_id, created_at desc, id desc);
create index top_ups_unpaid on top_ups (checked_at) where paid_at is null and status in ('pending', 'expired');
create trigger refuse_deleted_customer before insert on top_ups
  for each row execute function refuse_deleted_customer('customer_id');

-- What the processor told us, as it came; each of its events once.
create table processor_events (
  processor text not null,
  event_id text not null,
  -- In the processor's own words.
  type text not null,
  processor_payment_id text,
  -- Our id, as the event claims.
  reference text,
  received_at timestamptz not null default now(),
  handled_at timestamptz,
  outcome text,
  due_at timestamptz not null default now(),
  tries int4 not null default 0,
  primary key (processor, event_id)
);
create index processor_events_waiting on processor_events (due_at) where handled_at is null;

-- A balance that is used up suspends every key, and one that is there again wakes them: whatever moved it,
-- and in its transaction. The first credit of an account restores nothing.
create function tell_balance_turned() returns trigger language plpgsql as $$
declare
  v_balance int8 := new.credited_nano_brl - new.debited_nano_brl - new.charged_nano_brl;
begin
  insert into events (id, customer_id, type, data)
  select gen_random_uuid(), c.id, case when v_balance > 0 then 'balance.restored' else 'balance.depleted' end,
    jsonb_build_object('balance_brl', trim_scale(v_balance::numeric / 1000000000)::text)
  from customers c where c.id = new.customer_id and c.deleted_at is null;
  return null;
end $$;
create trigger tell_balance_turned after update on accounts for each row
  when (
    (old.credited_nano_brl - old.debited_nano_brl - old.charged_nano_brl > 0)
      <> (new.credited_nano_brl - new.debited_nano_brl - new.charged_nano_brl > 0)
    and old.debited_nano_brl + new.charged_nano_brl > 0
  ) execute function tell_balance_turned();
