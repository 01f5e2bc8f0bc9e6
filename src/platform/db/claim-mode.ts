/**
 * The mode belongs to the database: its first start writes it, and servers of the other mode are refused. Otherwise
 * balances of the sandbox, which nobody paid, could pay for real calls.
 */
import { sql } from 'kysely'
import type { Database } from './open.ts'

export const MODES = ['sandbox', 'live'] as const
export type Mode = (typeof MODES)[number]

export class ModeError extends Error {
  constructor(stored: Mode, wanted: Mode) {
    super(
      `this database belongs to ${stored} mode since its first start, and CATRACA_MODE is ${wanted}: ` +
        (wanted === 'live'
          ? 'set DATABASE_URL (or DATA_DIR) to an empty database for live mode'
          : `set CATRACA_MODE=${stored}, or use another database for the sandbox`),
    )
  }
}

/** Returns the mode of this database; undefined before the first start of a server. */
export async function findMode(db: Database): Promise<Mode | undefined> {
  const row = await db.selectFrom('installation').select('mode').executeTakeFirst()
  return row?.mode
}

/** Checks the mode of the database. Throws a `ModeError` if the database belongs to the other mode. */
export async function assertMode(db: Database, wanted: Mode): Promise<void> {
  const stored = await findMode(db)
  if (stored !== undefined && stored !== wanted) throw new ModeError(stored, wanted)
}

/** Writes the mode at the first start. Throws a `ModeError` if the database belongs to the other one. */
export async function claimMode(db: Database, mode: Mode): Promise<void> {
  await sql`insert into installation (mode) values (${mode}) on conflict do nothing`.execute(db)
  await assertMode(db, mode)
}
