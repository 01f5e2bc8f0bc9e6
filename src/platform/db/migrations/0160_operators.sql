-- What operators are told, and search for: the end of a key, and the id of a payment.
create index api_keys_by_end on api_keys (last_four);
create index top_ups_by_payment on top_ups (processor_payment_id) where processor_payment_id is not null;

-- What was paid within some days.
create index top_ups_by_payment_time on top_ups (paid_at) where paid_at is not null;
