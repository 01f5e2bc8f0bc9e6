-- How fast each model answered on a day of Brasília, summed from the events of usage up to `until_at`.
-- Customers are bits by a digest of their ids: they show that enough are behind a number, and nobody can be read from them.
create table model_speed_days (
  model_id text not null,
  day date not null,
  until_at timestamptz not null,
  first_byte_counts latency_counts not null,
  first_byte_customers int8 not null,
  pace_counts latency_counts not null,
  pace_customers int8 not null,
  primary key (model_id, day)
) with (fillfactor = 50);
-- Compressed, each of the buckets of a sum would unpack its array again.
alter table model_speed_days
  alter column first_byte_counts set storage plain,
  alter column pace_counts set storage plain;
