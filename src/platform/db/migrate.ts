/**
 * Plain numbered SQL files, forward only, each in a separate transaction. The migration's row is
 * written first inside that transaction, so of two processes that start at once the second waits and
 * then finds the work done.
 */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type pg from 'pg'
import { DatabaseClient } from './database-client.ts'
import { createFunctions } from './functions.ts'
import { connectionConfig } from './open.ts'
import { isRefusedByPooler, PoolerNotDeclared } from './database-errors.ts'

/** Tables are in `public`, and migrations change tables only. */
const SETTINGS = { lock_timeout: '60000', search_path: 'public' }
const MIGRATIONS_DIR = join(import.meta.dirname, './migrations')
const FILE_NAME = /^(\d{4})_[a-z0-9_]+\.sql$/
/** The first migration; a later release may sum up all before it in a new one. */
const BASELINE = 100
/** The statements were tried on PostgreSQL 15 and later. */
const SERVER_VERSION_MIN = 150_000

/** Migrates the database to the newest version; returns the names of the migrations it ran. */
export async function migrate(databaseUrl: string): Promise<string[]> {
  const client = new DatabaseClient(connectionConfig(databaseUrl, SETTINGS))
  await client.connect().catch((error: unknown) => {
    throw isRefusedByPooler(error) ? new PoolerNotDeclared() : error
  })
  try {
    await checkSettings(client)
    await checkServerVersion(client)
    // `if not exists` fails if another session creates the table meanwhile. Both statements are one transaction.
    await client.query(`select pg_advisory_xact_lock(hashtextextended('migrations', 0));
      create table if not exists migrations (
        number int4 primary key, name text not null, run_at timestamptz not null default now())`)
    await checkBaseline(client)
    const ran: string[] = []
    for (const file of await listMigrationFiles()) {
      if (await runOnce(client, file)) ran.push(file.name)
    }
    await createFunctions(client)
    return ran
  } finally {
    await client.end()
  }
}

/** A pooler may also drop the settings of a connection without a word. */
async function checkSettings(client: DatabaseClient): Promise<void> {
  const { rows } = await client.query<{ lock_timeout: string }>(
    `select setting as lock_timeout from pg_settings where name = 'lock_timeout'`,
  )
  if (rows[0]?.lock_timeout !== SETTINGS.lock_timeout) throw new PoolerNotDeclared()
}

async function checkServerVersion(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ server_version_num: string }>('show server_version_num')
  const version = Number(rows[0]?.server_version_num)
  if (version < SERVER_VERSION_MIN) {
    throw new Error(`PostgreSQL 15 or newer is needed; DATABASE_URL points to ${version}`)
  }
}

/** The baseline is for an empty database; one with an earlier schema must first be migrated by the previous release. */
async function checkBaseline(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ last: number | null }>(
    'select max(number) as last from migrations',
  )
  const last = rows[0]?.last ?? BASELINE
  if (last < BASELINE) {
    throw new Error(
      `the database is at migration ${last}, and this release upgrades from migration ${BASELINE} on; ` +
        'start the previous release once, then this one',
    )
  }
}

async function listMigrationFiles(): Promise<{ number: number; name: string }[]> {
  const names = (await readdir(MIGRATIONS_DIR)).filter((name) => FILE_NAME.test(name)).sort()
  return names.map((name) => ({ number: Number(name.slice(0, 4)), name }))
}

async function runOnce(
  client: pg.Client,
  file: { number: number; name: string },
): Promise<boolean> {
  const done = await client.query('select 1 from migrations where number = $1', [file.number])
  if (done.rowCount) return false
  const statements = await readFile(join(MIGRATIONS_DIR, file.name), 'utf8')
  await client.query('begin')
  try {
    const mine = await client.query(
      'insert into migrations (number, name) values ($1, $2) on conflict do nothing',
      [file.number, file.name],
    )
    if (mine.rowCount) await client.query(statements)
    await client.query('commit')
    return mine.rowCount === 1
  } catch (error) {
    await client.query('rollback')
    throw new Error(`migration ${file.name} failed`, { cause: error })
  }
}
