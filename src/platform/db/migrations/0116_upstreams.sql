-- Upstreams that operators added while servers run; those of the file and of the environment have no row. Holds that were
-- measured for an upstream, and what was charged on it, name it by its id: an id is of one kind and address for ever, so
-- the row of a deleted one stays, without its key.
create table upstreams (
  id uuid primary key,
  upstream_id text not null unique,
  kind text not null,
  base_url text,
  key_sealed bytea,
  -- The last characters, by which an operator knows the key again.
  key_end text,
  state text not null default 'active' check (state in ('active', 'draining', 'paused', 'deleted')),
  created_at timestamptz not null default now(),
  check (state <> 'deleted' or (key_sealed is null and key_end is null))
);
