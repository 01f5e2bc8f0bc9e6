-- The release that a node runs: null for nodes of releases that did not say it. `build` is the commit, or the name that
-- whoever built the image gave it.
alter table public.nodes
  add column version text,
  add column build text;
