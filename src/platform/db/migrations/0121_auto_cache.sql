-- Whether calls of the key mark their prompts for upstreams that cache only what is marked.
alter table api_keys add column auto_cache boolean not null default false;
