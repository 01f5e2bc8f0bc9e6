// deep: every cell of every table changed
/**
 * A superuser changes each cell of the tables that have to do with money or limits, deletes each row and forges each, with
 * all triggers and foreign keys off (forged rows with them): the full audit finds it, or a constraint refuses it, or it is listed as harmless.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import { openDatabase, type Database, type OpenDatabase } from '../../src/platform/db/open.ts'
import { auditMoney } from '../../src/money/payments/audit-money.ts'
import { effort, isFullEffort, seedOr } from '../harness/effort.ts'
import { nameStatements } from '../harness/name-statements.ts'
import { buildMoneyWorld, type MoneyWorld } from './changed-cells/build-money-world.ts'
import { HARMLESS, type Harmless } from './changed-cells/harmless.ts'
import { listChanges, listTables, type Change } from './changed-cells/list-changes.ts'
import { NOT_MONEY } from './changed-cells/not-money.ts'

const seed = seedOr(20_261_128)

let world: MoneyWorld
/** Its connections plan the queries of the audit once. */
let named: OpenDatabase

before(async () => {
  world = await buildMoneyWorld()
  named = openDatabase(world.database.databaseUrl, { onError: () => {} })
  nameStatements(named.pool)
})
after(async () => {
  await named.close()
  await world.close()
})

async function failuresOf(db: Database): Promise<string[]> {
  const report = await auditMoney(db, { isFull: true })
  return report.checks.filter(({ ok }) => !ok).map(({ name }) => name)
}

/** `test/months/archive.test.ts` has these. */
const OF_ARCHIVES = /^archived_/

async function listMoneyChanges(): Promise<Change[]> {
  const { db } = world.database
  const tables = (await listTables(db)).filter(
    (table) => !(table in NOT_MONEY) && !OF_ARCHIVES.test(table),
  )
  const rowsMax = effort({ ordinary: 12, full: 40 })
  return (await Promise.all(tables.map((table) => listChanges(db, table, rowsMax)))).flat()
}

type Found = 'refused' | 'found' | 'missed'

/** Tries each change for itself, and takes it back. */
async function tryAll(changes: readonly Change[]): Promise<Map<Change, Found>> {
  const results = new Map<Change, Found>()
  await named.db.transaction().execute(async (trx) => {
    await sql`set local session_replication_role = replica`.execute(trx)
    await sql`set local jit = off`.execute(trx)
    for (const change of changes) {
      await sql`savepoint change`.execute(trx)
      if (change.how === 'forged')
        await sql`set local session_replication_role = origin`.execute(trx)
      const rows = await change.statement.execute(trx).then(
        ({ numAffectedRows }) => numAffectedRows,
        () => undefined,
      )
      const isRefused = rows === undefined
      if (isRefused) await sql`rollback to savepoint change`.execute(trx)
      // An audit that fails, such as at a time zone that there is not, has found it.
      const isFound = async () => (await failuresOf(trx).catch((error) => [error])).length > 0
      if (rows !== 0n)
        results.set(change, isRefused ? 'refused' : (await isFound()) ? 'found' : 'missed')
      await sql`rollback to savepoint change`.execute(trx)
    }
  })
  return results
}

const covers = (entry: Harmless, change: Change): boolean =>
  entry.table === change.table &&
  entry.columns.includes(change.column) &&
  (entry.how?.includes(change.how) ?? true) &&
  (entry.when?.(change.row) ?? true)

test('the world that is changed is sound, and has a row of every table of money', async () => {
  assert.deepEqual(await failuresOf(world.database.db), [])
  const tried = new Set((await listMoneyChanges()).map(({ table }) => table))
  const tables = (await listTables(world.database.db)).filter(
    (table) => !(table in NOT_MONEY) && !OF_ARCHIVES.test(table) && !tried.has(table),
  )
  // A day that is over; `test/ledger/rollups.test.ts` has some.
  assert.deepEqual(tables, ['usage_days'])
})

test('each table has to do with money or says why not, and no list names what is not there', async () => {
  const tables = await listTables(world.database.db)
  assert.deepEqual(
    Object.keys(NOT_MONEY).filter((table) => !tables.includes(table)),
    [],
  )
  const { rows } = await sql<{ name: string }>`
    select table_name || '.' || column_name as name from information_schema.columns
    where table_schema = 'public'`.execute(world.database.db)
  const columns = new Set(rows.map(({ name }) => name))
  assert.deepEqual(
    HARMLESS.flatMap((entry) => entry.columns.map((column) => `${entry.table}.${column}`)).filter(
      (name) => !name.endsWith('.*') && !columns.has(name),
    ),
    [],
  )
})

test('each changed cell, deleted row and forged row is found, refused or listed', async (context) => {
  const all = await listMoneyChanges()
  const share = effort({ ordinary: 60, full: all.length })
  const changes = [...all]
    .map((change, place) => ({ change, order: (place * 2_654_435_761 + seed * 40_503) >>> 0 }))
    .sort((a, b) => a.order - b.order)
    .slice(0, share)
    .map(({ change }) => change)
  const results = await tryAll(changes)
  const listed = new Set<Change>()
  const nameless: string[] = []
  for (const [change, found] of results) {
    if (found !== 'missed') continue
    if (HARMLESS.some((entry) => covers(entry, change))) listed.add(change)
    else
      nameless.push(`${change.table}.${change.column} ${change.how} ${JSON.stringify(change.row)}`)
  }
  const count = (wanted: Found) => [...results.values()].filter((found) => found === wanted).length
  context.diagnostic(
    `of ${all.length} changes ${results.size} tried: ${count('found')} found by the audit, ${count('refused')} refused, ${listed.size} listed`,
  )
  assert.deepEqual(nameless, [])
  // A share may miss the change that an entry is there for.
  const wrong = HARMLESS.filter((entry) => {
    const covered = [...results].filter(([change]) => covers(entry, change))
    return (
      (!entry.isSometimesFound && covered.some(([, found]) => found === 'found')) ||
      (isFullEffort && !covered.some(([, found]) => found === 'missed'))
    )
  })
  assert.deepEqual(wrong, [])
})
