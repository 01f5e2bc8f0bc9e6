/** Months leave to files without a trace in what customers, operators and the audit see. */
import assert from 'node:assert/strict'
import { appendFile, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { createEventArchive, type EventArchive } from '../../src/archive/event-archive.ts'
import { openFolderStore } from '../../src/archive/folder-store.ts'
import { OPERATOR } from '../../src/audit-log/audited.ts'
import { audit, type AuditOptions } from '../../src/ledger/audit/audit.ts'
import { archiveMonth } from '../../src/months/archive-month.ts'
import { createMargins } from '../../src/usage/margins.ts'
import { readUsage, type ReadUsageEvent } from '../../src/usage/read-usage.ts'
import { buildHistory, NOW, type History } from './build-history.ts'

const seed = Number(process.env.TEST_SEED ?? 20_261_125)

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

const period = {
  timezone: 'America/Sao_Paulo',
  from: '1000-01-01',
  to: '2999-01-01',
  fromAt: '1000-01-01T00:00:00.000000Z',
  untilAt: '2999-01-01T00:00:00.000000Z',
}

async function exportOf(customerId: string): Promise<ReadUsageEvent[]> {
  const events: ReadUsageEvent[] = []
  for await (const batch of readUsage(history.database.db, customerId, period, archive))
    events.push(...batch)
  return events
}

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
