-- Invitations are found by whom they are for.

create index team_invitations_open on team_invitations (email, created_at)
  where accepted_at is null and revoked_at is null;

-- An e-mail says who is an admin and who may accept an invitation: it is one customer's, however it is written.
create unique index customers_by_email on customers (lower(email));
