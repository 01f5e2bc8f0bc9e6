// deep: months that leave to an archive
/** Months leave to files without a trace in what customers, operators and the audit see. */
import assert from 'node:assert/strict'
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import {
  createEventArchive,
  openWorkDir,
  type EventArchive,
} from '../../src/platform/archive/event-archive.ts'
import { digestFile } from '../../src/platform/archive/event-file.ts'
import { openFolderStore } from '../../src/platform/archive/folder-store.ts'
import { OPERATOR } from '../../src/platform/audit-log/audited.ts'
import type { ApiKey } from '../../src/customers/api-keys.ts'
import type { Database } from '../../src/platform/db/open.ts'
import { audit, type AuditOptions } from '../../src/money/ledger/audit/audit.ts'
import { debit, findAccount } from '../../src/money/ledger/entries.ts'
import { release } from '../../src/money/ledger/resolution.ts'
import { archiveMonth } from '../../src/money/months/archive-month.ts'
import { findObstacle } from '../../src/money/months/find-obstacle.ts'
import { FILES } from '../../src/money/ledger/audit/prove-archived.ts'
import { eraseRemains } from '../../src/identity/personal-data/erase-remains.ts'
import { createMargins } from '../../src/money/usage/margins.ts'
import { ArchiveNotConfigured, readUsage } from '../../src/money/usage/read-usage.ts'
import { effort } from '../harness/effort.ts'
import { buildHistory, NOW, randomOf, type History } from './build-history.ts'
import { EVER, readAllEvents } from './read-all-events.ts'

const seed = Number(process.env.TEST_SEED ?? 20_261_125)

const below = randomOf(seed)
const random = () => below(1_000) / 1_000
let history: History
let root: string
let archive: EventArchive

before(async () => {
  history = await buildHistory(seed)
  root = await mkdtemp(join(tmpdir(), 'catraca-archived-'))
  archive = createEventArchive(openFolderStore(root))
})

after(async () => {
  await history.close()
})

async function failuresOf(options: AuditOptions = {}) {
  const report = await audit(history.database.db, {}, options)
  return report.checks.filter(({ ok }) => !ok).map(({ name, breaches }) => ({ name, breaches }))
}

const exportOf = (customerId: string) => readAllEvents(history, archive, [customerId])

/** Everything that must not change when months leave. */
async function view() {
  const { db } = history.database
  const customers = [...new Set(history.keys.map(({ customerId }) => customerId))]
  const report = await audit(db)
  const { rows: months } = await sql<{ from: string; to: string }>`
    select to_char(min(created_at), 'YYYY-MM-DD') as from, to_char(min(created_at) + interval '90 days', 'YYYY-MM-DD') as to
    from usage_events`.execute(db)
  return {
    exports: await Promise.all(customers.map(exportOf)),
    counts: report.counts,
    seal: report.seal,
    days: months,
  }
}

function marginsOf({ from, to }: { from: string; to: string }) {
  return createMargins(history.database.db).read(from, to)
}

const archiveOf = (month: string, more = {}) =>
  archiveMonth(history.database.db, month, {
    store: openFolderStore(root),
    actor: OPERATOR,
    now: NOW,
    fileEventsMax: 50,
    ...more,
  })

test('the history is sound before it leaves', async () => {
  assert.deepEqual(await failuresOf(), [])
  assert.deepEqual(await failuresOf({ isFull: true }), [])
})

test('a month stays while something may still change it', async () => {
  const { db } = history.database
  const [first, second] = history.months
  const refused = async (month: string, reason: RegExp, more = {}) => {
    await assert.rejects(archiveOf(month, more), reason)
    const { rows } = await sql<{
      files: bigint
    }>`select count(*) as files from archived_files`.execute(db)
    assert.equal(rows[0]?.files, 0n)
  }
  await refused(second, new RegExp(`the next one is ${first}`))
  await refused(first, /too young/, { now: new Date() })
  const [key] = history.keys
  const attempt = history.ledger.attempt(key as ApiKey, 1)
  assert.equal((await history.ledger.ledger.hold(attempt)).kind, 'held')
  await sql`update holds set created_at = ${`${first}-20T00:00:00Z`}::timestamptz where id = ${attempt.id}`.execute(
    db,
  )
  await refused(first, /an open hold began before its end/)
  await sql`update holds set created_at = now() where id = ${attempt.id}`.execute(db)
  await history.ledger.ledger.resolve(release(attempt, 'test'))
  // As if the clock had been set back: a charge that no seal has.
  await inRolledBack(db, async (trx) => {
    await sql`update usage_events set settled_at = '2020-01-01' where id = ${attempt.id}`.execute(
      trx,
    )
    assert.match((await findObstacle(trx, first, NOW)) ?? '', /older than all seals/)
  })
  await inRolledBack(db, async (trx) => {
    await sql`delete from audit_seal_sums where seal_number > 5`.execute(trx)
    await sql`delete from audit_seals where number > 5`.execute(trx)
    assert.match((await findObstacle(trx, first, NOW)) ?? '', /it is sealed until/)
  })
  await sql`insert into delivery_discrepancies (hold_id, node_id, delivered_nano_brl)
    values (${idOf(`${first}-20T00:00:00Z`)}, ${history.ledger.nodeId}, 1)`.execute(db)
  await refused(first, /a delivery discrepancy of it is open/)
  await sql`delete from delivery_discrepancies`.execute(db)
})

/** A UUID version 7 of this time. */
function idOf(at: string): string {
  const hex = Date.parse(at).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`
}

async function inRolledBack(db: Database, work: (trx: Database) => Promise<void>): Promise<void> {
  const rolledBack = new Error('rolled back')
  await assert.rejects(
    db.transaction().execute(async (trx) => {
      await work(trx)
      throw rolledBack
    }),
    rolledBack,
  )
}

test('rows that differ from their seals do not leave', async () => {
  const { db } = history.database
  const [first] = history.months
  const { rows } = await sql<{ id: string }>`
    select id from usage_events where settled_at >= ${`${first}-01T00:00:00Z`}::timestamptz order by settled_at limit 1`.execute(
    db,
  )
  const id = rows[0]?.id as string
  await sql`update usage_events set duration_ms = duration_ms + 1 where id = ${id}`.execute(db)
  await assert.rejects(archiveOf(first), /sealed events are as they were sealed/)
  await sql`update usage_events set duration_ms = duration_ms - 1 where id = ${id}`.execute(db)
  await sql`update archived_months set leased_until = now()`.execute(db)
})

test('exports, sums and the audit are the same after months left', async () => {
  const { db } = history.database
  const earlier = await view()
  const days = earlier.days[0] as { from: string; to: string }
  const margins = await marginsOf(days)
  assert.ok(margins.length > 0)
  assert.ok(earlier.exports.every((events) => events.length > 20))
  for (const month of history.months) {
    const { removal, files, events } = await archiveOf(month)
    assert.deepEqual(removal, { kind: 'removed' })
    assert.ok(files > 1 && events > 0n)
    assert.deepEqual(await failuresOf({ eventsAgain: 1_000_000 }), [])
    const { exports, counts, seal } = await view()
    assert.deepEqual(exports, earlier.exports)
    assert.deepEqual(counts, earlier.counts)
    assert.deepEqual(seal, earlier.seal)
    assert.deepEqual(await marginsOf(days), margins)
  }
  const [key] = history.keys
  await assert.rejects(readUsage(db, (key as ApiKey).customerId, EVER).next(), ArchiveNotConfigured)
  const report = await audit(db, {}, { isFull: true, archive })
  assert.deepEqual(
    report.checks.filter(({ ok }) => !ok),
    [],
  )
  assert.deepEqual(
    report.archived,
    history.months.map((month) => ({ month, by: 'files' })),
  )
  const { rows } = await sql<{ rows: bigint }>`
    select count(*) as rows from usage_events where settled_at < archived_until()`.execute(db)
  // What later corrections and debts name.
  assert.ok((rows[0]?.rows ?? 0n) > 0n && (rows[0]?.rows ?? 0n) < 60n)
})

test('a full audit finds each changed cell of archived hours and files', async () => {
  const { db } = history.database
  const { rows } = await sql<{ table: string; column: string; type: string }>`
    select table_name as table, column_name as column, data_type as type from information_schema.columns
    where table_schema = 'public' and table_name in ('archived_hours', 'archived_files') order by 1, 2`.execute(
    db,
  )
  const all = rows.filter(({ column }) => column !== 'month')
  assert.ok(all.length > 14)
  // Each reads all files again.
  const tried = effort({ ordinary: 3, full: all.length })
  for (const { table, column, type } of all.sort(() => random() - 0.5).slice(0, tried)) {
    const cell = sql.ref(column)
    const value = type.startsWith('timestamp')
      ? sql`${cell} + interval '1 hour'`
      : type === 'bytea'
        ? sql`sha256(${cell})`
        : type === 'text'
          ? sql`${cell} || 'x'`
          : sql`${cell} + 1`
    await inRolledBack(db, async (trx) => {
      await sql`update ${sql.table(table)} set ${cell} = ${value} where ctid in (
        select ctid from ${sql.table(table)} where ${cell} is not null limit 1)`.execute(trx)
      const report = await audit(trx, {}, { isFull: true, archive })
      assert.ok(!report.ok, `${table}.${column}`)
    })
  }
})

test('a full audit finds a changed byte, a missing file, and a changed row', async () => {
  const { db } = history.database
  const breaches = async () => {
    const report = await audit(db, {}, { isFull: true, archive })
    return report.checks.filter(({ ok }) => !ok).map(({ name }) => name)
  }
  const { rows: files } = await sql<{
    name: string
    month: string
    number: number
    sha256: Buffer
  }>`
    select name, month, number, sha256 from archived_files where events > 0 order by month, number`.execute(
    db,
  )
  const { name, month, number, sha256 } = files[1] as (typeof files)[number]
  const path = join(root, name)
  const whole = await readFile(path)
  const changed = Buffer.from(whole)
  const place = changed.length >> 1
  changed[place] = (changed[place] as number) ^ 1
  await writeFile(path, changed)
  assert.deepEqual(await breaches(), [FILES])
  await rm(path)
  assert.deepEqual(await breaches(), [FILES])
  // Somebody who can write to the archive and the database: the seals still know the rows.
  const work = await openWorkDir()
  try {
    await writeFile(path, whole)
    const other = join(work.dir, 'other.parquet')
    await work.duckDb.run(`copy (
      select * replace (completion_tokens + 1 as completion_tokens)
      from read_parquet('${path}') order by customer_id, created_at, id) to '${other}' (format parquet)`)
    await copyFile(other, path)
    const digest = await digestFile(path)
    await sql`update archived_files set sha256 = ${digest.sha256}, bytes = ${digest.bytes} where month = ${month} and number = ${number}`.execute(
      db,
    )
  } finally {
    await work.close()
  }
  assert.deepEqual(
    await breaches(),
    [
      'sealed events are as they were sealed',
      'cost = tokens and units x price',
      'the tree of a seal is that of its events',
    ].toSorted(),
  )
  await writeFile(path, whole)
  await sql`update archived_files set sha256 = ${sha256}, bytes = ${whole.length} where month = ${month} and number = ${number}`.execute(
    db,
  )
  assert.deepEqual(await breaches(), [])
})

test('a full audit that cannot read a file fails, and reads the others', async () => {
  const { db } = history.database
  const { rows } = await sql<{ name: string }>`
    select name from archived_files where events > 0 order by month, number`.execute(db)
  const [unreadable, missing] = rows.map(({ name }) => name) as [string, string]
  const found = async (by?: EventArchive) => {
    const report = await audit(db, {}, { isFull: true, ...(by && { archive: by }) })
    return {
      faults: report.checks.flatMap(({ ok, name, breaches }) => (ok ? [] : [{ name, breaches }])),
      byFiles: report.archived.filter(({ by }) => by === 'files').length,
    }
  }
  const whole = new Map<string, Buffer>()
  for (const name of [unreadable, missing]) {
    whole.set(name, await readFile(join(root, name)))
    await rm(join(root, name))
  }
  await mkdir(join(root, unreadable))
  const { faults, byFiles } = await found(archive)
  assert.equal(byFiles, history.months.length - 1)
  assert.equal(faults.length, 1)
  assert.equal(faults[0]?.name, FILES)
  assert.match(JSON.stringify(faults[0].breaches), /"[^"]+cannot be read: [^"]*EISDIR.*"missing"/)
  await rm(join(root, unreadable), { recursive: true })
  for (const [name, bytes] of whole) await writeFile(join(root, name), bytes)

  // Whatever else fails, while it is opened or later.
  const failing: EventArchive = {
    ...archive,
    async openFile(file) {
      if (file.name === unreadable) throw new Error('403 Forbidden')
      const opened = await archive.openFile(file)
      if (file.name !== missing) return opened
      return { ...opened, readSlice: () => Promise.reject(new Error('no space is left')) }
    },
  }
  const later = await found(failing)
  assert.equal(later.byFiles, history.months.length - 1)
  assert.deepEqual(
    later.faults.map(({ name }) => name),
    [FILES],
  )
  assert.match(JSON.stringify(later.faults), /403 Forbidden.*no space is left/)

  const without = await found()
  assert.equal(without.byFiles, 0)
  assert.deepEqual(
    without.faults.flatMap(({ breaches }) => breaches),
    history.months.map((file) => ({ file, fault: 'no archive is configured: ARCHIVE_DIR' })),
  )
  assert.deepEqual(await found(archive), { faults: [], byFiles: history.months.length })
})

test('files show no session id, and a deleted account loses those of archived months', async () => {
  const { db } = history.database
  const [key] = history.keys
  const { customerId } = key as ApiKey
  const { rows: files } = await sql<{ name: string }>`select name from archived_files`.execute(db)
  for (const { name } of files) assert.ok(!(await readFile(join(root, name))).includes('conversa'))
  const earlier = await exportOf(customerId)
  assert.ok(earlier.some(({ sessionId }) => sessionId !== null))
  const amountNanoBrl = (await findAccount(db, customerId))?.balanceNanoBrl as bigint
  await debit(db, { customerId, amountNanoBrl, reason: 'account_closed', reference: customerId })
  await sql`update customers set deleted_at = now() where id = ${customerId}`.execute(db)
  assert.ok(await eraseRemains(db, customerId))
  assert.deepEqual(
    await exportOf(customerId),
    earlier.map((event) => ({ ...event, sessionId: null })),
  )
  const { rows } = await sql<{ left: bigint }>`
    select (select count(*) from archived_sessions where customer_id = ${customerId})
      + (select count(*) from archived_session_keys where customer_id = ${customerId})
      + (select count(*) from usage_sessions where customer_id = ${customerId})
      + (select count(*) from usage_events where customer_id = ${customerId} and session_id is not null) as left`.execute(
    db,
  )
  assert.equal(rows[0]?.left, 0n)
  assert.deepEqual(await failuresOf({ isFull: true, archive }), [])
})
