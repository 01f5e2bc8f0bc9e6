-- The audit reads the whole history once. What is settled long enough to be complete is proved, summed up and sealed
-- slice by slice, so that no snapshot is held for longer than seconds, however long the history is.

-- Events are written in the order of this time, but for the few that settle at once: an index of a few pages.
create index usage_events_by_settlement on usage_events using brin (settled_at) with (autosummarize = on);

-- One row for each slice of `settled_at`; they follow each other without a gap. Each names the one before by its hash.
create table audit_seals (
  number int8 primary key,
  from_at timestamptz not null,
  to_at timestamptz not null check (to_at > from_at),
  events int8 not null,
  -- SHA-256 over the events without their session ids, which deletions of accounts erase, the debts and the
  -- corrections of the slice; and over its rows in `audit_seal_sums`.
  rows_hash bytea not null,
  sums_hash bytea not null,
  -- What the checks found in the slice when it was sealed, by their names; later audits say it again.
  breaches jsonb not null default '{}',
  hash bytea not null,
  sealed_at timestamptz not null default now()
);
create index audit_seals_by_time on audit_seals (from_at);

-- What the events of a slice add up to, so that balances, roll-ups, budgets and caps are proved without them.
create table audit_seal_sums (
  seal_number int8 not null references audit_seals (number),
  customer_id uuid not null,
  hour_at timestamptz not null,
  api_key_id uuid not null,
  model_id text not null,
  team_id uuid,
  charged int8 not null,
  released int8 not null,
  prompt_tokens int8 not null,
  completion_tokens int8 not null,
  cost_pico_usd int8 not null,
  billed_nano_brl int8 not null,
  -- Of the events that count against the budget of the key.
  budget_pico_usd numeric not null,
  -- Of the events that count against the cap of the team.
  cap_nano_brl int8 not null,
  unique nulls not distinct (seal_number, customer_id, hour_at, api_key_id, model_id, team_id)
);
create index audit_seal_sums_by_customer on audit_seal_sums (customer_id);

-- The hash of a seal, over what it says and over the hash of the one before.
create function seal_hash(p_previous bytea, s audit_seals) returns bytea language sql immutable as $$
  select sha256(coalesce(p_previous, '') || s.rows_hash || s.sums_hash || convert_to(concat_ws('|',
    s.number, extract(epoch from s.from_at), extract(epoch from s.to_at), s.events, s.breaches), 'UTF8'))
$$;
