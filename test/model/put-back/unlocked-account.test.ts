// deep: generated schedules of a model
/**
 * Fault 1: a batch with a call that named no customer skipped the account's lock, and wrote `held` from an old
 * read.
 */
import { expectBreach } from './expect-breach.ts'
import { putBackIntoFunction } from './put-back.ts'

const LOCK = `perform 1 from accounts where customer_id = any (p_customer_ids) order by customer_id for no key update;`

expectBreach('a model of a ledger that skips the lock of an account finds the overspending', {
  prepare:
    putBackIntoFunction('ledger_batch', [
      { find: LOCK, replace: `if cardinality(p_customer_ids) > 1 then ${LOCK} end if;` },
    ]) +
    putBackIntoFunction('take_holds', [
      {
        find: 'from accounts where customer_id = v_customer_id for no key update',
        replace: 'from accounts where customer_id = v_customer_id',
      },
      { find: 'held_nano_brl = held_nano_brl + v_taken', replace: 'held_nano_brl = v_held' },
    ]),
  vocabulary: { keyless: 2, money: 2 },
  seed: 3,
  says: /no order of these explains|held:|overspent/,
})
