import { sql } from 'kysely'
import type { Database } from './open.ts'

/** Whether the database follows another one and takes no writes. */
export async function isStandby(db: Database): Promise<boolean> {
  const { rows } = await sql<{ follows: boolean }>`select pg_is_in_recovery() as follows`.execute(
    db,
  )
  return rows[0]?.follows === true
}

/** A command failed on a standby, most likely because it writes. */
export class TakesNoWrites extends Error {
  constructor(cause: unknown) {
    super(
      `this database is a standby, which takes no writes: set DATABASE_URL to its primary (${(cause as Error).message})`,
      { cause },
    )
    this.name = 'TakesNoWrites'
  }
}
