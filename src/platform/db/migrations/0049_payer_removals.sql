-- Customers who deleted their account and are still to be deleted at the payment processor.
create table public.payer_removals (
  customer_id uuid not null references public.customers (id),
  processor text not null,
  tries int not null default 0,
  due_at timestamptz not null default now(),
  primary key (customer_id, processor)
);
