-- An account at a provider is of one user at most, whatever runs at once. Passwords have the user's id there.
create unique index sign_in_accounts_of_providers on sign_in_accounts (provider_id, provider_account);
