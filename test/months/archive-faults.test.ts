// deep: months that leave to an archive
/** A month is never in neither place: whatever is killed, whoever else archives, and whatever snapshot is open. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { createEventArchive } from '../../src/platform/archive/event-archive.ts'
import { openFolderStore } from '../../src/platform/archive/folder-store.ts'
import { OPERATOR } from '../../src/platform/audit-log/audited.ts'
import type { ApiKey } from '../../src/customers/api-keys.ts'
import { openDatabase } from '../../src/platform/db/open.ts'
import { audit } from '../../src/money/ledger/audit/audit.ts'
import { archiveMonth, type ArchiveStep } from '../../src/money/months/archive-month.ts'
import { BUNDLE_IMPORTS } from '../harness/bundle-imports.ts'
import { withClient } from '../harness/test-database.ts'
import { buildHistory, NOW, type History } from './build-history.ts'
import { readAllEvents } from './read-all-events.ts'

let history: History
let root: string

before(async () => {
  history = await buildHistory(7)
  root = await mkdtemp(join(tmpdir(), 'catraca-archived-'))
})

after(async () => {
  await history.close()
})

const exported = () => readAllEvents(history, createEventArchive(openFolderStore(root)))

async function assertSound(isFull = false): Promise<void> {
  const archive = createEventArchive(openFolderStore(root))
  const { checks } = await audit(history.database.db, {}, { isFull, archive })
  assert.deepEqual(
    checks.filter(({ ok }) => !ok),
    [],
  )
}

const archiveOf = (month: string, more = {}) =>
  archiveMonth(history.database.db, month, {
    store: openFolderStore(root),
    actor: OPERATOR,
    now: NOW,
    ...more,
  })

async function archiveAndDie(month: string, step: ArchiveStep): Promise<void> {
  const child = spawn(
    process.execPath,
    [
      ...BUNDLE_IMPORTS,
      join(import.meta.dirname, './archive-and-die.ts'),
      history.database.databaseUrl,
      root,
      month,
      step,
    ],
    { stdio: ['ignore', 'inherit', 'inherit'] },
  )
  const [, signal] = (await once(child, 'close')) as [number | null, string | null]
  assert.equal(signal, 'SIGKILL', `it did not come to ${step}`)
}

test('a process that is killed after any step leaves a month that the next one archives', async () => {
  const [month] = history.months
  const earlier = await exported()
  for (const step of ['claimed', 'written', 'proved', 'summed', 'archived'] as const) {
    await archiveAndDie(month, step)
    assert.deepEqual(await exported(), earlier, step)
    await assertSound()
  }
  const { rows } = await sql<{ removed_at: Date | null }>`
    select removed_at from archived_months where archived_at is not null`.execute(
    history.database.db,
  )
  assert.deepEqual(rows, [{ removed_at: null }])
  assert.deepEqual((await archiveOf(month)).removal, { kind: 'removed' })
  assert.deepEqual(await exported(), earlier)
  await assertSound(true)
  // Files of attempts that were thrown away are gone.
  assert.equal(
    (await readdir(join(root, 'usage'), { recursive: true })).filter((name) =>
      name.endsWith('.parquet'),
    ).length,
    1,
  )
})

test('of two nodes one archives the month', async () => {
  const [, month] = history.months
  const earlier = await exported()
  const other = openDatabase(history.database.databaseUrl, { onError: () => {} })
  try {
    const results = await Promise.allSettled([
      archiveOf(month),
      archiveMonth(other.db, month, { store: openFolderStore(root), actor: OPERATOR, now: NOW }),
    ])
    const refused = results.filter((result) => result.status === 'rejected')
    assert.equal(refused.length, 1)
    assert.match(String(refused[0]?.reason), /another process archives it/)
  } finally {
    await other.close()
  }
  assert.deepEqual(await exported(), earlier)
  await assertSound()
})

test('an open snapshot is not blocked, blocks no call, and sees what it saw', async () => {
  const [, , month] = history.months
  const { database, ledger, keys } = history
  const earlier = await exported()
  await withClient(database.databaseUrl, async (dump) => {
    const count = async () =>
      ((await dump.query('select count(*) from usage_events')).rows as unknown[])[0]
    // As pg_dump: a snapshot, and a lock of every table.
    await dump.query('begin isolation level repeatable read')
    const seen = await count()
    const { removal } = await archiveOf(month, { removeWithinMs: 500 })
    assert.equal(removal.kind, 'waits')
    assert.deepEqual(await count(), seen)
    assert.deepEqual(await exported(), earlier)
    await assertSound()
    const attempt = ledger.attempt(keys[0] as ApiKey, 1)
    assert.equal((await ledger.ledger.hold(attempt)).kind, 'held')
    assert.equal((await ledger.ledger.resolve(ledger.charge(attempt, 1))).kind, 'committed')
    await dump.query('commit')
  })
  const charged = await exported()
  assert.deepEqual((await archiveOf(month)).removal, { kind: 'removed' })
  assert.deepEqual(await exported(), charged)
  await assertSound(true)
})
