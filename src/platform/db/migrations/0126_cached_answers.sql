-- Answers that an account keeps for equal requests of its own, each sealed for its row.
create table cached_answers (
  customer_id uuid not null references customers,
  -- SHA-256 of everything that decides the answer.
  digest bytea not null check (length(digest) = 32),
  sealed bytea not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  primary key (customer_id, digest)
);
create index cached_answers_by_age on cached_answers (customer_id, created_at);
create index cached_answers_by_end on cached_answers (expires_at);

-- For how long an answer to the key's calls may serve equal calls; null: not at all.
alter table api_keys add column cache_seconds integer check (cache_seconds between 1 and 604800);

-- The price of which this is the share that a cached answer is charged.
alter table prices add column share_of integer references prices;
