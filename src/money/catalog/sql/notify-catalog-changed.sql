-- Notifies all nodes that a markup, a price, the list of disabled models, an added model, an upstream, its own list,
-- the price data or the pause of the service changed. The progress of customers' notices (noticed_at) does not concern nodes.
create function notify_catalog_changed() returns trigger language plpgsql set search_path from current as $$
begin
  perform pg_notify('catalog', '');
  return null;
end $$;

create or replace trigger notify_catalog_changed after insert or update of canceled_at on markup_changes
  for each statement execute function notify_catalog_changed();
create or replace trigger notify_catalog_changed after insert or update or delete on disabled_models
  for each statement execute function notify_catalog_changed();
create or replace trigger notify_catalog_changed after insert or update of withdrawn_at on price_changes
  for each statement execute function notify_catalog_changed();
create or replace trigger notify_catalog_changed after insert or update or delete on service_pause
  for each statement execute function notify_catalog_changed();
create or replace trigger notify_catalog_changed after insert or update on upstream_models
  for each statement execute function notify_catalog_changed();
create or replace trigger notify_catalog_changed after insert or update on price_data
  for each statement execute function notify_catalog_changed();
create or replace trigger notify_catalog_changed after insert or update or delete on upstreams
  for each statement execute function notify_catalog_changed();
create or replace trigger notify_catalog_changed after insert or update or delete on added_models
  for each statement execute function notify_catalog_changed();
