-- What a second published list says about the prices of the data: it sets none.
alter table price_data add column second_list jsonb;
alter table price_differences drop constraint price_differences_kind_check,
  add constraint price_differences_kind_check check (kind in ('new', 'cheaper', 'dearer', 'unreadable', 'disputed'));
