-- What operators write about a customer for each other.
create table customer_notes (
  id uuid primary key,
  customer_id uuid not null references customers,
  written_by uuid not null references customers,
  note text not null check (length(note) between 1 and 2000),
  created_at timestamptz not null default now()
);
create index customer_notes_by_customer on customer_notes (customer_id, created_at desc, id desc);
