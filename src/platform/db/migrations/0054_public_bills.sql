-- A tree over the charges of each seal, and the chain of their roots, by which anybody can check a charge that its
-- customer shows. Seals from before have none.
alter table public.audit_seals
  add column charges_root bytea,
  add column charges_head bytea;

-- Bills that customers show to others: of a charge, or of a usage session.
create table public.public_bills (
  id uuid primary key,
  -- Who has it can read the bill. 192 random bits, in base64url.
  token text not null unique check (length(token) = 32),
  customer_id uuid not null references public.customers (id),
  usage_event_id uuid,
  session_id text check (length(session_id) between 1 and 80),
  -- Where the charges are in the trees of their seals: read from the rows once, when the day's chain has ended.
  proofs jsonb,
  created_at timestamptz not null default now(),
  check ((usage_event_id is null) <> (session_id is null)),
  unique (customer_id, usage_event_id),
  unique (customer_id, session_id)
);
create index public_bills_by_customer on public.public_bills (customer_id, created_at desc, id desc);
