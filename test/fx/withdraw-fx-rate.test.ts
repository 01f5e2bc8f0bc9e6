import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { OPERATOR } from '../../src/platform/audit-log/audited.ts'
import { findCurrentFxRate, storeFxRate } from '../../src/money/fx/fx-rates.ts'
import { withdrawFxRate } from '../../src/money/fx/set-fx-rate.ts'
import { createTestDatabase } from '../harness/test-database.ts'

const database = await createTestDatabase()
const { db } = database
after(() => database.drop())

const day = (rateDate: string, rateE4: bigint, source: string) =>
  storeFxRate(db, { rateE4, rateDate, source, bulletinAt: null })
const withdraw = (on: typeof db, id: number) =>
  withdrawFxRate(on, OPERATOR, { mode: 'live', id, note: undefined })

test('two rates that are withdrawn at once both stay withdrawn', async () => {
  await day('2026-01-05', 50_000n, 'ptax')
  const older = await day('2026-01-06', 51_000n, 'manual')
  const newer = await day('2026-01-07', 52_000n, 'manual')
  const second = await db.transaction().execute(async (trx) => {
    assert.equal((await withdraw(trx, older.id)).kind, 'withdrawn')
    // It does not see the first one, which is not committed.
    const running = withdraw(db, newer.id)
    await Promise.race([running, sleep(300)])
    return { running }
  })
  const outcome = await second.running
  assert.equal(outcome.kind, 'withdrawn')
  assert.equal((await findCurrentFxRate(db, 'live'))?.rateE4, 50_000n)
})
