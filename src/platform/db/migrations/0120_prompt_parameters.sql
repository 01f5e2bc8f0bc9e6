-- What a prompt sets for calls that name it as their model: limits and routes.
alter table prompts add column parameters jsonb not null default '{}' check (jsonb_typeof(parameters) = 'object');
