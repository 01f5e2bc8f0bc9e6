-- What each upstream said last that it has: every node and worker shows the same models, also after a restart while the
-- upstream is away.
create table upstream_models (
  upstream_id text primary key,
  models jsonb not null,
  read_at timestamptz not null
);
