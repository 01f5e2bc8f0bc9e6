-- Each free place looks for due destinations: without it, each look reads all of them.
create index usage_destinations_due on public.usage_destinations (due_at, id) where disabled_at is null;
