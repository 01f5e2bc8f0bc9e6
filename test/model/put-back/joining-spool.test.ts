// deep: generated schedules of a model
/** Fault 7: a full disk left a torn line, the next line joined it, and no line of the file was ever replayed. */
import { expectBreach } from './expect-breach.ts'
import { putBackIntoFile } from './put-back.ts'

putBackIntoFile('src/money/ledger/open-ledger.ts', {
  find: `from './spool/spool.ts'`,
  replace: `from '../../../test/model/put-back/joining-spool.ts'`,
})

expectBreach('a model of a spool whose torn lines join the next finds the charge that is lost', {
  vocabulary: { disks: 2, partitions: 1 },
  seed: 1,
  says: /the spool does not empty|delivered \d+ tokens and was charged|open after a minute/,
})
