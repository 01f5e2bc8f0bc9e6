-- Models that operators wrote while servers run, each an entry of the form of catraca.config.json. One of a model that the
-- file has an entry for does not count.
create table added_models (
  model_id text primary key,
  entry jsonb not null,
  created_at timestamptz not null default now(),
  check (entry->>'id' = model_id)
);
