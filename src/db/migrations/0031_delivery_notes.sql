-- Answers that were delivered and are not charged as the client was told become rows here: nodes note what they
-- deliver on their own disks, and a job compares it with the usage events.
create table delivery_discrepancies (
  hold_id uuid primary key,
  node_id uuid not null,
  told_nano_brl int8 not null,
  -- The sum of the events of the hold; null where there is none.
  stored_nano_brl int8,
  found_at timestamptz not null default now(),
  -- A correction made both equal.
  resolved_at timestamptz
);
create index delivery_discrepancies_open on delivery_discrepancies (found_at) where resolved_at is null;
