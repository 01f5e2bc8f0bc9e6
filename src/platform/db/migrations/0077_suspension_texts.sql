-- What the customer reads as the reason. Null: the account was suspended before there was a text.
alter table public.customers add column suspended_text text;
