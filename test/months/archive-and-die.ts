/** A process that archives a month, and kills itself after one of the steps. */
import { openFolderStore } from '../../src/platform/archive/folder-store.ts'
import { OPERATOR } from '../../src/platform/audit-log/audited.ts'
import { openDatabase } from '../../src/platform/db/open.ts'
import { archiveMonth } from '../../src/money/months/archive-month.ts'
import { NOW } from './build-history.ts'

const [databaseUrl = '', root = '', month = '', lastStep = ''] = process.argv.slice(2)
const { db } = openDatabase(databaseUrl, { onError: () => {} })
await archiveMonth(db, month, {
  store: openFolderStore(root),
  actor: OPERATOR,
  now: NOW,
  // The next attempt does not wait for this one.
  leaseSeconds: 0,
  async afterStep(step) {
    if (step === lastStep) process.kill(process.pid, 'SIGKILL')
  },
})
