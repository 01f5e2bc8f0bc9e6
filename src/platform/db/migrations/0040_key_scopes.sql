-- What an API key may do beside calling models. The values are in ascending order: each allows what the ones before it
-- allow. A key with a limit of models, addresses, budget or expiry gets `calls`, any other key `account`; only a login
-- session gives `manage` (src/customers/key-acts.ts). `calls` is also the default for nodes of earlier releases.
create type public.key_scope as enum ('calls', 'account', 'manage');
alter table public.api_keys add column scope public.key_scope not null default 'calls';
update public.api_keys set scope = 'account'
where model_ids is null and ip_allowlist is null and expires_at is null and not has_budget and team_id is null;
-- A member of a team must not see or manage the account that pays.
alter table public.api_keys add constraint api_keys_scope_of_team check (team_id is null or scope = 'calls');
