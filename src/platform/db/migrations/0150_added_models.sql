-- Models that operators wrote while servers run, each an entry of the form of catraca.config.json. One of a model that the
-- file has an entry for does not count.
create table added_models (
  model_id text primary key,
  entry jsonb not null,
  -- The prices that the model had when it was written first, as `price_changes.schedule`: later ones are changes of them.
  -- Null: those of the entry.
  base jsonb,
  created_at timestamptz not null default now(),
  check (entry->>'id' = model_id)
);
