-- Whoever looks after the balance in another way switches the mails of `balance.low` off. That it is used up is
-- still told, and webhooks hear of both.
alter table customers add column low_balance_email_enabled boolean not null default true;
