// deep: generated schedules of a model
/** Fault 2: nodes were not fenced, and a late charge whose hold another node had resolved was dropped as done. */
import { expectBreach } from './expect-breach.ts'
import { putBackIntoFunction } from './put-back.ts'

expectBreach('a model of a ledger that drops late charges finds the answer that is free', {
  prepare: putBackIntoFunction('resolve_again', [
    {
      find: 'select * into c from charge_corrections',
      replace: `return 'repeated';\n  select * into c from charge_corrections`,
    },
  ]),
  vocabulary: { silences: 2 },
  seed: 3,
  says: /no order of these explains|delivered \d+ tokens and was charged/,
})
