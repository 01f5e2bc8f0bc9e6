/** The job that stores official rates, beside rates that an operator sets. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { OPERATOR } from '../../src/platform/audit-log/audited.ts'
import { findCurrentFxRate, storeFxRate } from '../../src/money/fx/fx-rates.ts'
import { setFxRate } from '../../src/money/fx/set-fx-rate.ts'
import { dayInBrasilia } from '../../src/platform/lib/days.ts'
import { createLog } from '../../src/platform/lib/log.ts'
import { refreshFxRate } from '../../src/app/workers/refresh-fx-rate.ts'
import { createTestDatabase } from '../harness/test-database.ts'

const database = await createTestDatabase()
const { db } = database
after(() => database.drop())
const log = createLog('silent', () => {})

/** The central bank publishes this rate for this day. */
async function refresh(rate: string, day: string): Promise<bigint | undefined> {
  const value = [{ cotacaoVenda: Number(rate), dataHoraCotacao: `${day} 13:05:00.0` }]
  const fetch = () => Promise.resolve(Response.json({ value }))
  await refreshFxRate(db, log, new Date(`${day}T18:00:00Z`), { fetch, wait: async () => {} })
  return (await findCurrentFxRate(db, 'live'))?.rateE4
}

const set = (rateE4: bigint, rateDate: string) =>
  setFxRate(db, OPERATOR, { mode: 'live', rateE4, rateDate, note: 'x', isConfirmed: true })

test('a slip by hand is replaced by the next official rate; a confirmed jump is followed', async () => {
  assert.equal(await refresh('5.2', '2026-02-02'), 52_000n)
  await set(522_380n, '2026-02-02')
  assert.equal((await findCurrentFxRate(db, 'live'))?.rateE4, 522_380n)
  assert.equal(await refresh('5.21', '2026-02-03'), 52_100n)
  assert.equal(await refresh('7.1', '2026-02-04'), 52_100n, 'a jump needs a person')
  await set(71_000n, '2026-02-04')
  assert.equal(await refresh('7.2', '2026-02-05'), 72_000n)
})

test('no rate is stored for a day in the future, by whatever way', async () => {
  const tomorrow = dayInBrasilia(new Date(Date.now() + 86_400_000))
  const rate = { rateE4: 52_000n, rateDate: tomorrow, bulletinAt: null, source: 'bcb_olinda' }
  await assert.rejects(storeFxRate(db, rate), /in the future/)
  assert.equal((await set(52_000n, tomorrow)).kind, 'date_in_future')
})
