-- What operators wrote about customers who deleted their account is erased: the job goes over these accounts once more.
update public.customers set erased_at = null where deleted_at is not null;
