-- Which part of the balance an entry moves: promotional credit, or paid money. `accounts.promotional_nano_brl` becomes the
-- sum of these parts, and `accounts.promotional_at_charged_nano_brl` the sum of the charges that took paid money
-- (`ledger/sql/entries.sql`). What is left of promotional credit does not change.
alter table public.ledger_entries
  add column promotional_nano_brl int8 not null default 0
    check (promotional_nano_brl between 0 and amount_nano_brl),
  -- The charges since the entry before, beyond the promotional credit that was left.
  add column paid_charges_nano_brl int8 not null default 0;
-- What a reversal returned to paid money.
alter table public.charge_corrections add column paid_back_nano_brl int8 not null default 0;

-- Of earlier grants and debits only the sum is known: the newest grants count as whole, as far as charges and the rest
-- explain them.
create temporary table promotional_sums on commit drop as
select a.customer_id, g.taken, least(g.granted - g.taken, a.charged_nano_brl + l.left_nano_brl) as sum,
  a.charged_nano_brl + l.left_nano_brl as explained
from public.accounts a
join (
  select customer_id,
    coalesce(sum(amount_nano_brl) filter (where kind = 'credit' and reason in ('promotion', 'referral', 'trial')), 0) as granted,
    coalesce(sum(amount_nano_brl) filter (where kind = 'debit' and reason = 'referral_taken_back'), 0) as taken
  from public.ledger_entries group by 1
) g using (customer_id)
cross join lateral (
  select greatest(0, least(
    a.promotional_nano_brl - (a.charged_nano_brl - a.promotional_at_charged_nano_brl),
    a.credited_nano_brl - a.debited_nano_brl - a.charged_nano_brl)) as left_nano_brl) l
where g.granted > 0;

update public.ledger_entries e
set promotional_nano_brl = p.part, paid_charges_nano_brl = case when p.newest = 1 then p.explained - p.sum else 0 end
from (
  select e.id, s.explained, s.sum, case when e.kind = 'debit' then e.amount_nano_brl else
      greatest(0, least(e.amount_nano_brl, s.sum + s.taken - coalesce(sum(e.amount_nano_brl) over newer, 0))) end as part,
    row_number() over (partition by e.customer_id, e.kind order by e.created_at desc, e.id desc)
      + case when e.kind = 'debit' then 1 else 0 end as newest
  from public.ledger_entries e join promotional_sums s using (customer_id)
  where e.kind = 'credit' and e.reason in ('promotion', 'referral', 'trial')
    or e.kind = 'debit' and e.reason = 'referral_taken_back'
  window newer as (partition by e.customer_id, e.kind order by e.created_at desc, e.id desc
    rows between unbounded preceding and current row exclude current row)
) p
where p.id = e.id;

update public.accounts a
set promotional_nano_brl = s.sum, promotional_at_charged_nano_brl = s.explained - s.sum
from promotional_sums s where s.customer_id = a.customer_id;
