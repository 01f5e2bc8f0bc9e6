-- The process of a node on a server with several processes (WORKERS): the parent is worker 0. Null where one process is
-- the whole server. The parent fences the nodes of a process that it saw die by `process_id`.
alter table public.nodes
  add column server_id uuid,
  add column process_id uuid,
  add column worker int2;
