-- An operator's key reads the routes under /admin, and always expires. The day more is for clocks that differ.
alter type public.key_scope add value 'operator';
-- By its text: the new value cannot be used before this migration is committed.
alter table public.api_keys add constraint api_keys_operator_expires check (
  scope::text <> 'operator' or (expires_at is not null and expires_at <= created_at + interval '91 days'));
