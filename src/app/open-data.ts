import { claimMode, type Mode } from '../platform/db/claim-mode.ts'
import { migrate } from '../platform/db/migrate.ts'
import { openDatabase, type OpenDatabase } from '../platform/db/open.ts'
import type { Log } from '../platform/lib/log.ts'
import { keepMonthsAhead } from './workers/ensure-months.ts'

/**
 * The database with the tables of this release, and with the partitions of the coming months. Throws a `ModeError` if
 * it belongs to the other mode.
 */
export async function openData(databaseUrl: string, mode: Mode, log: Log): Promise<OpenDatabase> {
  const ran = await migrate(databaseUrl)
  if (ran.length > 0) log.info('migrations_run', { names: ran })
  const opened = openDatabase(databaseUrl, {
    onError: (error) => log.warn('database_connection_failed', { error }),
  })
  const { db } = opened
  try {
    await claimMode(db, mode)
    await keepMonthsAhead(db, log)
  } catch (error) {
    await opened.close()
    throw error
  }
  return opened
}
