-- The published price data that was accepted last: every node and worker compares with, and sells by, the same.
create table price_data (
  only_row boolean primary key default true check (only_row),
  -- What it says now, of the providers that are compared.
  published jsonb not null,
  -- Its models that the package of price data lacks, as they were when they came into the catalog. Later prices of them are
  -- changes of prices, as for any model.
  added jsonb not null,
  fetched_at timestamptz not null
);

alter table price_changes
  -- From the price data, by the operator's rule or approval. Null: an operator set the price.
  add column notice_percent_e2 int4 check (notice_percent_e2 >= 0),
  add column noticed_through uuid,
  add column noticed_at timestamptz;

alter table price_differences
  add column kind text not null default 'unreadable' check (kind in ('new', 'cheaper', 'dearer', 'unreadable')),
  -- The prices of the data, as in price_changes.schedule; null if they cannot be read.
  add column schedule jsonb,
  -- The entry of the data, of a model that is not in the catalog.
  add column entry jsonb,
  -- An operator keeps the price in force, until the difference is another one.
  add column rejected_at timestamptz;
