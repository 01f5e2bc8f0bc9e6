import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type pg from 'pg'

const MIGRATIONS_DIR = join(import.meta.dirname, '../../src/db/migrations')

/** A database as it was when this migration was the newest; `migrate` does the rest. */
export async function migrateUpTo(client: pg.Client, last: number): Promise<void> {
  await client.query(`create table migrations (
    number int4 primary key, name text not null, run_at timestamptz not null default now())`)
  for (const name of (await readdir(MIGRATIONS_DIR)).sort()) {
    const number = Number(name.slice(0, 4))
    if (number > last) return
    await client.query(await readFile(join(MIGRATIONS_DIR, name), 'utf8'))
    await client.query('insert into migrations (number, name) values ($1, $2)', [number, name])
  }
}
