-- The first debit of an account may be what uses the balance up, as a refund of all that was paid in does: it
-- is told like any other. The first credit still restores nothing.
drop trigger tell_balance_turned on accounts;
create trigger tell_balance_turned after update on accounts for each row
  when (
    (old.credited_nano_brl - old.debited_nano_brl - old.charged_nano_brl > 0)
      <> (new.credited_nano_brl - new.debited_nano_brl - new.charged_nano_brl > 0)
    and new.debited_nano_brl + new.charged_nano_brl > 0
  ) execute function tell_balance_turned();
