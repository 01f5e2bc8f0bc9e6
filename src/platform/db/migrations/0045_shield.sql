-- The LGPD shield (docs/shield.md): what happens with personal data in the prompts of an account's calls. A key without
-- a setting of its own follows its account's.
alter table public.customers
  add column shield_action text not null default 'off',
  add column shield_uuids text not null default 'near_pix',
  add constraint customers_shield check (shield_action in ('off', 'mask', 'block') and shield_uuids in ('near_pix', 'always'));
alter table public.api_keys
  add column shield_action text,
  add column shield_uuids text,
  add constraint api_keys_shield check (
    (shield_action is null) = (shield_uuids is null)
    and shield_action in ('off', 'mask', 'block') and shield_uuids in ('near_pix', 'always'));
-- How many values the shield found, never the values: by the day in the customer's time zone.
create table public.shield_counts (
  customer_id uuid not null references public.customers (id),
  api_key_id uuid not null references public.api_keys (id),
  day date not null,
  action text not null check (action in ('mask', 'block')),
  kind text not null,
  occurrences bigint not null check (occurrences > 0),
  primary key (customer_id, day, api_key_id, action, kind)
);
