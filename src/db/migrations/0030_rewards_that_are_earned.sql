-- The reward for a referral is earned: after the withdrawal period and real spending. It is taken back when the
-- money that earned it is charged back.

alter table referrals
  -- What was debited of the reward again; the rest of it was spent before.
  add column taken_back_nano_brl int8 not null default 0,
  add constraint referrals_taken_back_check check (taken_back_nano_brl between 0 and coalesce(reward_nano_brl, 0)),
  -- An HMAC of the CPF or CNPJ that was rewarded, each once. It outlives changes of the profile and deletions.
  add column rewarded_tax_id_digest bytea unique,
  -- From when on nothing more becomes of it, and why.
  add column closed_at timestamptz,
  add column closed_reason text check (closed_reason in
    ('no_reward', 'account_deleted', 'own_tax_id', 'tax_id_rewarded', 'top_up_returned', 'taken_back', 'earlier_rule')),
  add constraint referrals_closed_check check ((closed_at is null) = (closed_reason is null));
create index referrals_open on referrals (customer_id) where closed_at is null;

-- What was given by the earlier rule, at the first top-up, is not taken back.
update referrals set closed_at = now(), closed_reason = 'earlier_rule' where rewarded_at is not null;

-- For the search of rewards to take back.
create index top_ups_gone on top_ups (customer_id) where status in ('chargeback', 'refunded');

-- Keys of HMACs that must be the same for ever: random, and sealed like every secret, so that SECRETS_KEY can change.
create table digest_keys (
  id uuid primary key,
  purpose text not null unique,
  secret_sealed bytea not null,
  created_at timestamptz not null default now()
);
