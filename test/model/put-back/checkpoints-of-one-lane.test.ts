// deep: generated schedules of a model
/** Fault 15: one lane stored the checkpoints of all customers, and waited for holds that settlements had locked. */
import { expectBreach } from './expect-breach.ts'
import { putBackIntoFile, putBackIntoFunction } from './put-back.ts'

putBackIntoFile('src/money/ledger/open-ledger.ts', {
  find: 'Map.groupBy(checkpoints, ({ customerId }) => laneOf(customerId))',
  replace: 'Map.groupBy(checkpoints, () => lanes[0] as Lane)',
})

expectBreach('a model of checkpoints that wait for settlements finds the deadlock', {
  prepare: putBackIntoFunction('checkpoint_holds', [
    { find: 'for no key update of h skip locked', replace: 'for no key update of h' },
  ]),
  vocabulary: { checkpoints: true, isStorm: true },
  seed: 4,
  says: /deadlock/,
})
