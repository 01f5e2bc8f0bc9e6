// deep: months that leave to an archive
/** Months leave to a bucket, whose answers are not trusted. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { createEventArchive, type EventArchive } from '../../src/platform/archive/event-archive.ts'
import { openS3Store } from '../../src/platform/archive/s3-store.ts'
import { OPERATOR } from '../../src/platform/audit-log/audited.ts'
import { audit } from '../../src/money/ledger/audit/audit.ts'
import { FILES } from '../../src/money/ledger/audit/prove-archived.ts'
import { archiveMonth, type ArchiveStep } from '../../src/money/months/archive-month.ts'
import { buildHistory, NOW, type History } from './build-history.ts'
import { startFakeS3, type FakeS3 } from './fake-s3.ts'
import { readAllEvents } from './read-all-events.ts'

let history: History
let bucket: FakeS3
let archive: EventArchive

before(async () => {
  history = await buildHistory(11)
  bucket = await startFakeS3()
  archive = createEventArchive(openS3Store(bucket.settings))
})

after(async () => {
  bucket.close()
  await history.close()
})

const exported = () => readAllEvents(history, archive)

async function failures(): Promise<string[]> {
  const { checks, archived } = await audit(history.database.db, {}, { isFull: true, archive })
  for (const { by } of archived) assert.equal(by, 'files')
  return checks.filter(({ ok }) => !ok).map(({ name }) => name)
}

const archiveOf = (month: string, more = {}) =>
  archiveMonth(history.database.db, month, {
    store: openS3Store(bucket.settings),
    actor: OPERATOR,
    now: NOW,
    ...more,
  })

test('each row that an attempt stores renews its lease in the same transaction', async () => {
  const { db } = history.database
  for (const statement of [
    'create table renewals (xid xid)',
    `create function note_renewal() returns trigger language plpgsql as
      'begin insert into renewals values (pg_current_xact_id()::xid); return null; end'`,
    'create trigger renewal after update on archived_months execute function note_renewal()',
  ])
    await sql.raw(statement).execute(db)
  const stopped = new Error('stopped')
  const attempt = archiveOf(history.months[0], {
    fileEventsMax: 50,
    leaseSeconds: 0,
    async afterStep(step: ArchiveStep) {
      if (step === 'summed') throw stopped
    },
  })
  await assert.rejects(attempt, stopped)
  for (const table of ['files', 'sessions', 'hours', 'spends']) {
    const { rows } = await sql<{ renewed: boolean }>`
      select xmin in (select xid from renewals) as renewed
      from ${sql.table(`archived_${table}`)}`.execute(db)
    assert.ok(rows.length > 0, table)
    assert.ok(
      rows.every(({ renewed }) => renewed),
      table,
    )
  }
  await sql`drop trigger renewal on archived_months`.execute(db)
})

test('a month in a bucket is exported and proved as before', async () => {
  const earlier = await exported()
  const { removal, files } = await archiveOf(history.months[0], { fileEventsMax: 50 })
  assert.deepEqual(removal, { kind: 'removed' })
  assert.ok(files > 1)
  assert.equal(bucket.objects.size, files + 1)
  assert.deepEqual(await exported(), earlier)
  assert.deepEqual(await failures(), [])
})

test('an export and a full audit refuse half an object, and another one in its place', async () => {
  const { rows } = await sql<{ name: string }>`
    select name from archived_files where events > 0 order by number`.execute(history.database.db)
  const [path, other] = rows.map(({ name }) => `/bucket/folder/${name}`) as [string, string]
  const whole = bucket.objects.get(path) as Buffer
  try {
    for (const wrong of [
      whole.subarray(0, whole.length >> 1),
      bucket.objects.get(other) as Buffer,
    ]) {
      bucket.objects.set(path, wrong)
      await assert.rejects(exported(), /is not the file that was archived/)
      assert.deepEqual(await failures(), [FILES])
    }
  } finally {
    bucket.objects.set(path, whole)
  }
  assert.deepEqual(await failures(), [])
})

test('a process that was stopped beyond its lease adds nothing to what its successor stores', async () => {
  const [, month] = history.months
  const earlier = await exported()
  const summed = Promise.withResolvers<void>()
  const resumed = Promise.withResolvers<void>()
  let successor: Promise<unknown> = Promise.resolve()
  const stopped = archiveOf(month, {
    leaseSeconds: 0,
    async afterStep(step: ArchiveStep) {
      if (step !== 'proved') return
      successor = archiveOf(month, {
        async afterStep(later: ArchiveStep) {
          if (later !== 'summed') return
          summed.resolve()
          await resumed.promise
        },
      })
      successor.catch(summed.reject)
      await summed.promise
    },
  })
  await assert.rejects(stopped, /another process took over/)
  resumed.resolve()
  await successor
  assert.deepEqual(await exported(), earlier)
  assert.deepEqual(await failures(), [])
})

test('a process that was stopped right after its claim removes nothing that its successor stored', async () => {
  const { db } = history.database
  const [, , month] = history.months
  const died = new Error('died')
  const dying = {
    leaseSeconds: 0,
    async afterStep(step: ArchiveStep) {
      if (step === 'summed') throw died
    },
  }
  await assert.rejects(archiveOf(month, dying), died)
  const files = async () => {
    const { rows } = await sql`
      select name from archived_files where month = ${`${month}-01`}::date order by name`.execute(
      db,
    )
    return rows
  }
  const claimed = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const store = {
    ...openS3Store(bucket.settings),
    async list() {
      claimed.resolve()
      await gate.promise
      return []
    },
  }
  const stopped = archiveOf(month, { store, leaseSeconds: 0 })
  await claimed.promise
  await assert.rejects(archiveOf(month, dying), died)
  const stored = await files()
  assert.ok(stored.length > 0)
  gate.resolve()
  await assert.rejects(stopped, /another process took over/)
  assert.deepEqual(await files(), stored)
})

test('a month does not leave when its files were removed after they were proved', async () => {
  const [, , month] = history.months
  const before = new Set(bucket.objects.keys())
  const attempt = archiveOf(month, {
    leaseSeconds: 0,
    async afterStep(step: ArchiveStep) {
      if (step !== 'summed') return
      for (const path of bucket.objects.keys()) if (!before.has(path)) bucket.objects.delete(path)
    },
  })
  await assert.rejects(attempt, /was removed after it was written/)
})

test('a copy of the database, from the middle of an attempt, removes no file of the month', async () => {
  const { db } = history.database
  const [, , month] = history.months
  const earlier = await exported()
  // As the copy has it: the attempt, without its end.
  let attempt: { run: string } | undefined
  const { files } = await archiveOf(month, {
    removeWithinMs: 0,
    async afterStep(step: ArchiveStep) {
      if (step !== 'archived') return
      attempt = (
        await sql<{ run: string }>`
          select run from archived_months where month = ${`${month}-01`}::date`.execute(db)
      ).rows[0]
      await sql`
        update archived_months set archived_at = null, leased_until = now() - interval '1 hour'
        where month = ${`${month}-01`}::date`.execute(db)
      await archiveOf(month)
    },
  })
  assert.ok(files > 0)
  const kept = [...bucket.objects.keys()].filter((path) => path.includes(`${attempt?.run}`))
  assert.equal(kept.length, files + 1)
  assert.deepEqual(await exported(), earlier)
  assert.deepEqual(await failures(), [])
})
