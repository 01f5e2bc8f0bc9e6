create function digest_fx_rate() returns trigger language plpgsql set search_path from current as $$
begin
  new.digest := sha256(convert_to(concat_ws('|', new.id, new.rate_e4, new.rate_date - date '2000-01-01',
    extract(epoch from new.bulletin_at), extract(epoch from new.created_at), new.source), 'UTF8'));
  return new;
end $$;

create or replace trigger digest_fx_rate before insert on fx_rates for each row execute function digest_fx_rate();
