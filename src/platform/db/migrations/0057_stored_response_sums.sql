-- What an account has ever stored, so that the oldest responses are found without counting those that are there.
create table public.stored_response_sums (
  customer_id uuid primary key references public.customers (id),
  responses int8 not null,
  bytes int8 not null
);
-- The sums of the account when the response was added: its number, and the bytes of all before it. A release that does
-- not know them leaves them at 0: then the response is among the oldest.
alter table public.stored_responses
  add column place int8 not null default 0,
  add column bytes_before int8 not null default 0;
update public.stored_responses r set place = s.place, bytes_before = s.bytes_before
from (
  select id, row_number() over w as place,
    sum(input_bytes::int8 + response_bytes) over w - input_bytes - response_bytes as bytes_before
  from public.stored_responses window w as (partition by customer_id order by created_at, id)
) s
where s.id = r.id;
insert into public.stored_response_sums (customer_id, responses, bytes)
select customer_id, count(*), sum(input_bytes::int8 + response_bytes) from public.stored_responses group by customer_id;
create index stored_responses_by_place on public.stored_responses (customer_id, place);
create index stored_responses_by_bytes on public.stored_responses (customer_id, bytes_before);
create index stored_responses_by_time on public.stored_responses (customer_id, created_at, id);
drop index public.stored_responses_newest;
