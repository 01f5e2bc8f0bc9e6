-- The cell of this database, see docs/cells.md: a part of the secret of each key that is made here. Null where there is one
-- database only.
alter table public.installation
  add column cell text constraint installation_cell check (cell ~ '^[0-9a-z]{1,8}$');
