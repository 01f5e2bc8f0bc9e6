/** A clock of the database that a test moves: the statements of the nodes, and the defaults of columns, read it. */
import { sql } from 'kysely'
import type pg from 'pg'
import { FUNCTIONS_SCHEMA } from '../../../src/platform/db/functions.ts'
import { connectionConfig, openPool, type Database } from '../../../src/platform/db/open.ts'
import type { TestDatabase } from '../../harness/test-database.ts'

const trueNow = Date.now
const PATH = `moved_clock,${FUNCTIONS_SCHEMA},public,pg_catalog`

async function installClock(db: Database): Promise<void> {
  await sql
    .raw(`
    create schema moved_clock;
    create table moved_clock.moved (by interval not null);
    insert into moved_clock.moved values ('0');
    create function moved_clock.now() returns timestamptz stable language sql as
      'select pg_catalog.now() + by from moved_clock.moved';
    create function moved_clock.clock_timestamp() returns timestamptz volatile language sql as
      'select pg_catalog.clock_timestamp() + by from moved_clock.moved';
    alter function ${FUNCTIONS_SCHEMA}.limit_card_charges() set search_path = ${PATH};
    do $$ declare d record; begin
      for d in select c.relname, a.attname from pg_attrdef f join pg_class c on c.oid = f.adrelid
        join pg_attribute a on a.attrelid = c.oid and a.attnum = f.adnum
        where pg_get_expr(f.adbin, f.adrelid) = 'now()' and c.relnamespace = 'public'::regnamespace and not c.relispartition
      loop execute format('alter table public.%I alter column %I set default moved_clock.now()', d.relname, d.attname);
      end loop; end $$`)
    .execute(db)
}

function openMovedPool(databaseUrl: string): pg.Pool {
  return openPool(connectionConfig(databaseUrl, { search_path: PATH }), {
    max: 12,
    onError: () => {},
  })
}

/** So much after the true time: the nodes' statements, and their own clocks. */
export async function moveClock(db: Database, movedMs: number): Promise<void> {
  Date.now = () => trueNow() + movedMs
  await sql`update moved_clock.moved set by = make_interval(secs => ${movedMs / 1_000})`.execute(db)
}

export async function openDatabaseClock(database: TestDatabase) {
  await installClock(database.db)
  const pool = openMovedPool(database.databaseUrl)
  return {
    pool,
    async close() {
      Date.now = trueNow
      await pool.end()
    },
  }
}
