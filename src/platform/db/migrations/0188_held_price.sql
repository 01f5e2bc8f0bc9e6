-- The price of the hold, where the charge has another: the highest that any route of the call could ask.
alter table usage_events add column held_price_id integer;
