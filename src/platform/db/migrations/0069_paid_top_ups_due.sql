-- The sweeper asks about paid top-ups too, which may be charged back: a look for them reads those that are due.
create index top_ups_paid_unchecked on public.top_ups (checked_at)
  where paid_at is not null and status in ('paid', 'refund_pending', 'partially_refunded');
