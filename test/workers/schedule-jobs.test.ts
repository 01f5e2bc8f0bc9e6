/** A start writes only the schedules of background jobs that are new or have changed. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { createLog } from '../../src/platform/lib/log.ts'
import { type Job, openJobs, scheduleJobs } from '../../src/app/workers/open-jobs.ts'
import { createTestDatabase, type TestDatabase } from '../harness/test-database.ts'

const log = createLog('silent', () => {})
let database: TestDatabase

before(async () => {
  database = await createTestDatabase()
})
after(() => database.drop())

/** As a node that starts with these jobs, and stops. */
async function start(jobs: Readonly<Record<string, Job>>): Promise<void> {
  const opened = await openJobs(database.databaseUrl, log)
  await scheduleJobs(opened.boss, jobs).finally(() => opened.stop())
}

/** The version is `xmin`, which changes with each write of the row. */
async function readRows(): Promise<Map<string, { cron: string; version: string }>> {
  const { rows } = await sql<{ name: string; cron: string; version: string }>`
    select name, cron, xmin::text as version from jobs.schedule`.execute(database.db)
  return new Map(rows.map(({ name, ...row }) => [name, row]))
}

const job = (cron: string): Job => ({ cron, run: async () => {} })

test('a start writes the schedules that are new or have changed, and no other', async () => {
  await start({ kept: job('0 0 29 2 *'), changed: job('7 * * * *') })
  const first = await readRows()
  assert.deepEqual([...first.keys()].sort(), ['changed', 'kept'])
  await start({ kept: job('0 0 29 2 *'), changed: job('8 * * * *'), added: job('9 * * * *') })
  const second = await readRows()
  assert.deepEqual(second.get('kept'), first.get('kept'))
  assert.equal(second.get('changed')?.cron, '8 * * * *')
  assert.equal(second.get('added')?.cron, '9 * * * *')
})

test('a start works on the jobs that an earlier start has scheduled', async () => {
  const ran = Promise.withResolvers<void>()
  const jobs = { kept: { ...job('0 0 29 2 *'), run: async () => ran.resolve() } }
  await start(jobs)
  const opened = await openJobs(database.databaseUrl, log)
  try {
    await opened.boss.send('kept')
    await scheduleJobs(opened.boss, jobs)
    await ran.promise
  } finally {
    await opened.stop()
  }
})
