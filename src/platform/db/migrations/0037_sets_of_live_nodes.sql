-- The schema of the SQL functions that the node calls; null for nodes of releases that did not write it. A set of
-- functions stays while a live node calls it (src/platform/db/functions.ts).
alter table public.nodes add column functions_schema text;
