import { DatabaseClient } from '../platform/db/database-client.ts'
import { connectionConfig } from '../platform/db/open.ts'
import type { Log } from '../platform/lib/log.ts'

/** A power cut loses what the database said it has. */
export class DatabaseNotDurable extends Error {
  constructor(settings: readonly string[]) {
    super(
      `the database runs with ${settings.map((name) => `${name}=off`).join(' and ')}: a power cut loses or damages charges. ` +
        'Live mode needs both on: set them in postgresql.conf and restart PostgreSQL',
    )
    this.name = 'DatabaseNotDurable'
  }
}

interface Facts {
  readonly fsync: string
  readonly full_page_writes: string
  readonly synchronous_standby_names: string
}

/**
 * Before the start in live mode. Throws a `DatabaseNotDurable`. `synchronous_commit` is set by every connection; these two
 * belong to the server.
 */
export async function checkDurability(databaseUrl: string, log: Log): Promise<void> {
  const client = new DatabaseClient(connectionConfig(databaseUrl))
  await client.connect()
  try {
    const { rows } = await client.query<Facts>(
      `select current_setting('fsync') as fsync, current_setting('full_page_writes') as full_page_writes,
        current_setting('synchronous_standby_names') as synchronous_standby_names`,
    )
    const [facts] = rows
    const off = (['fsync', 'full_page_writes'] as const).filter((name) => facts?.[name] !== 'on')
    if (off.length > 0) throw new DatabaseNotDurable(off)
    if (facts?.synchronous_standby_names === '')
      log.warn('no_synchronous_standby', {
        note: 'charges are on one disk only: if it is lost, or a fail-over goes to an asynchronous standby, the last charges are lost',
      })
  } finally {
    await client.end()
  }
}
