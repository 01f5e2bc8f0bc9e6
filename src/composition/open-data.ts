import { migrate } from '../db/migrate.ts'
import { openDatabase, type Database } from '../db/open.ts'
import type { Log } from '../lib/log.ts'
import { keepMonthsAhead } from '../workers/ensure-months.ts'

/** The database with the tables of this release, and with the partitions of the coming months. */
export async function openData(
  databaseUrl: string,
  log: Log,
): Promise<{ readonly db: Database; close(): Promise<void> }> {
  const ran = await migrate(databaseUrl)
  if (ran.length > 0) log.info('migrations_run', { names: ran })
  const { db, close } = openDatabase(databaseUrl, {
    onError: (error) => log.warn('database_connection_failed', { error }),
  })
  await keepMonthsAhead(db, log)
  return { db, close }
}
