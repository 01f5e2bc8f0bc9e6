-- A stored rate is a fact that charges name, and nothing else in the database says its day and source. Its digest, which the
-- trigger in src/money/fx/sql/digest-fx-rate.sql writes, makes a changed cell impossible; when it was withdrawn may be added.
alter table fx_rates add column digest bytea;
update fx_rates set digest = sha256(convert_to(concat_ws('|', id, rate_e4, rate_date - date '2000-01-01',
  extract(epoch from bulletin_at), extract(epoch from created_at), source), 'UTF8'));
alter table fx_rates add constraint fx_rates_digest check (digest = sha256(convert_to(concat_ws('|', id, rate_e4,
  rate_date - date '2000-01-01', extract(epoch from bulletin_at), extract(epoch from created_at), source), 'UTF8')));
