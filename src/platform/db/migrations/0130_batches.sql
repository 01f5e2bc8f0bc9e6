-- Many calls that an account leaves to the service: each line is one call of the key that made the batch.
create table batches (
  id uuid primary key,
  customer_id uuid not null references customers,
  api_key_id uuid not null references api_keys,
  -- The call of every line, such as `/v1/chat/completions`.
  endpoint text not null,
  -- Null for a batch whose lines came with it. The file may have been deleted since.
  input_file_id uuid,
  metadata jsonb,
  lines integer not null check (lines >= 0),
  succeeded integer not null default 0,
  errored integer not null default 0,
  canceled integer not null default 0,
  expired integer not null default 0,
  -- Of its results so far.
  bytes bigint not null default 0,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  -- No line is called before: the last one was told to wait.
  due_at timestamptz not null default now(),
  canceled_at timestamptz,
  ended_at timestamptz,
  check (succeeded + errored + canceled + expired <= lines)
);
create index batches_by_customer on batches (customer_id, id);
create index batches_that_run on batches (id) where ended_at is null;
create index batches_by_time on batches (created_at);

create table batch_lines (
  id uuid primary key,
  batch_id uuid not null references batches on delete cascade,
  customer_id uuid not null references customers,
  place integer not null,
  -- The name that the customer gave it, and the request; null once there is a result.
  input_sealed bytea,
  -- When it may be claimed: the end of the claim, while a node works on it.
  due_at timestamptz not null default now(),
  tries integer not null default 0,
  -- The hold whose charge pays for the result that is stored already.
  hold_id uuid,
  result_sealed bytea,
  result_bytes integer,
  outcome text check (outcome in ('succeeded', 'errored', 'canceled', 'expired')),
  check ((outcome is null) = (input_sealed is not null)),
  unique (batch_id, place)
);
alter table batch_lines alter column input_sealed set storage external, alter column result_sealed set storage external;
create index batch_lines_due on batch_lines (batch_id, due_at, place) where outcome is null;
create index batch_lines_by_customer on batch_lines (customer_id);

-- The files of an account: those that it uploads for batches, and those with the results of batches, whose text the
-- lines have.
create table files (
  id uuid primary key,
  customer_id uuid not null references customers,
  api_key_id uuid not null references api_keys,
  name text not null,
  bytes bigint not null check (bytes >= 0),
  batch_id uuid references batches on delete cascade,
  -- Of the results: those of lines that failed.
  is_of_errors boolean not null default false,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index files_by_customer on files (customer_id, id);
create index files_by_end on files (expires_at);
create index files_of_batches on files (batch_id) where batch_id is not null;

create table file_parts (
  id uuid primary key,
  file_id uuid not null references files on delete cascade,
  customer_id uuid not null references customers,
  place integer not null,
  sealed bytea not null,
  unique (file_id, place)
);
alter table file_parts alter column sealed set storage external;
create index file_parts_by_customer on file_parts (customer_id);
