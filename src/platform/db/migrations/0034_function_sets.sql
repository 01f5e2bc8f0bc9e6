-- The schemas with the functions of this release and of those before it, and the last start of a node with each;
-- src/platform/db/functions.ts writes them.
create table function_sets (
  schema_name text primary key,
  started_at timestamptz not null default clock_timestamp()
);
