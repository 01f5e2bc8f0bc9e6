-- What upstreams did, hour by hour, and what customers are told when something does not work.

create domain sample_count as int8 check (value >= 0);
-- As many as src/health/latency-buckets.ts has buckets. A node with another layout would shift every
-- percentile without a sign of it, so its rows are refused.
create domain latency_counts as int8[] check (cardinality(value) = 156);

-- One upstream may serve the models of many makers, and one maker's models may come from many.
-- A row of plain numbers is 1.4 kB, below what is compressed: its elements are read in place.
create table upstream_health_hours (
  hour_at timestamptz not null,
  upstream_id text not null,
  -- The maker of the models, the only one of the two names that customers see.
  vendor text not null,
  ok_count sample_count not null,
  failed_count sample_count not null,
  latency_counts latency_counts not null,
  primary key (hour_at, upstream_id, vendor)
) with (fillfactor = 50);

-- Element by element; both have the same length.
create function add_counts(one int8[], other int8[]) returns int8[]
language sql immutable strict parallel safe as $$
  select array_agg(a + b order by place) from unnest(one, other) with ordinality as pair (a, b, place)
$$;

create type incident_source as enum ('operator', 'breaker');
create type incident_severity as enum ('minor', 'major', 'critical');

create table incidents (
  id uuid primary key,
  source incident_source not null,
  -- What a breaker watches. Internal: it may name an upstream.
  subject text,
  severity incident_severity not null,
  title text not null check (length(title) between 1 and 200),
  -- The newest; incident_updates has them all.
  message text not null check (length(message) between 1 and 2000),
  -- Makers and models as the catalog shows them; empty where it is not about some of them.
  vendors text[] not null,
  model_ids text[] not null,
  opened_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  resolved_at timestamptz,
  -- The lease of a breaker: which node reported it last, and when.
  seen_at timestamptz,
  node_id uuid,
  check ((source = 'breaker') = (subject is not null and seen_at is not null and node_id is not null))
);
-- Nodes that report the same subject at once meet here.
create unique index incidents_open_of_breakers on incidents (subject)
  where source = 'breaker' and resolved_at is null;
create index incidents_open on incidents (opened_at) where resolved_at is null;

-- Immutable: what was said of an incident and when, its opening and its end included.
create table incident_updates (
  id uuid primary key,
  incident_id uuid not null references incidents (id),
  status text not null check (status in ('opened', 'updated', 'resolved')),
  severity incident_severity not null,
  -- Null where an incident ended without a word.
  message text,
  created_at timestamptz not null default now()
);
create index incident_updates_by_incident on incident_updates (incident_id, created_at);
