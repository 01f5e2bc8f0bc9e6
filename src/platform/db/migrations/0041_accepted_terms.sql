-- The version of the terms of use and the privacy policy (src/customers/legal) that was accepted: by a user at sign-up, before
-- there is a customer, and by the customer. The audit log has the history.
alter table public.sign_in_users add column accepted_terms text;
alter table public.customers add column accepted_terms text;
