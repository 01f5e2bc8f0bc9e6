-- The schemas with the functions of this release and of those before it; src/db/functions.ts writes them.
create table function_sets (
  schema_name text primary key,
  created_at timestamptz not null default clock_timestamp()
);
