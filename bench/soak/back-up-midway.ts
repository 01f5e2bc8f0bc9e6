/**
 * The backup that an operator takes while the server works, and its restore at the end: a new server resolves the holds
 * that were open, the audit is sound, and the notes on the old disk name the answers that were delivered later.
 */
import { sql } from 'kysely'
import { startEmbedded } from '../../src/platform/db/embedded.ts'
import { openDatabase, type Database } from '../../src/platform/db/open.ts'
import { report } from '../report.ts'
import type { OnDataFolder } from '../target.ts'
import { waitWithoutHolds } from './read-state.ts'

/** Charges that the server had committed before the backup began, and when it had ended. */
export interface TakenBackup {
  readonly folder: string
  readonly atLeast: number
  readonly atMost: number
}

export interface Restored {
  readonly charges: number
  /** Delivered answers that the old disk knows and the restored database has no charge for. */
  readonly lost: number
  /** Empty where all holds. */
  readonly faults: readonly string[]
}

const HOLDS_MS_MAX = 120_000

export async function takeBackup(
  old: OnDataFolder,
  db: Database,
  folder: string,
): Promise<TakenBackup> {
  const atLeast = await countCharges(db)
  answerOf(await old.run('backup', folder), [0])
  return { folder, atLeast, atMost: await countCharges(db) }
}

/** `oldDataDir` belongs to a server that may still run; `restored` is on a folder that does not exist. */
export async function restoreBackup(
  taken: TakenBackup,
  restored: OnDataFolder,
  dataDir: string,
  oldDataDir: string,
): Promise<Restored> {
  answerOf(await restored.run('restore', taken.folder), [0])
  await restored.start()
  const embedded = await startEmbedded({ dataDir, log: report })
  const { db, close } = openDatabase(embedded.databaseUrl, { onError: () => {} })
  await waitWithoutHolds(db, HOLDS_MS_MAX)
  const { isSound, charges, openHolds } = await restored.audit()
  const full = await restored.run('audit', '--full')
  const checked = await restored.run('restore-check', oldDataDir)
  const { lost } = answerOf(checked, [0, 1]) as { lost: unknown[] }
  await close()
  await embedded.stop()

  const faults: string[] = []
  if (!isSound || full.code !== 0) faults.push('the audit of the restored database is not sound')
  if (openHolds > 0) faults.push(`${openHolds} holds of the restored database stay open`)
  // Holds of streams that were open become charges by their checkpoints.
  if (charges < taken.atLeast) faults.push('the restored database lacks charges')
  if (lost.length === 0) faults.push('no answer is known to be delivered after the backup')
  return { charges, lost: lost.length, faults }
}

async function countCharges(db: Database): Promise<number> {
  const { rows } = await sql<{ charges: number }>`
    select count(*)::int4 as charges from usage_events where outcome = 'charged'`.execute(db)
  return rows[0]?.charges ?? 0
}

function answerOf(
  { code, stdout, stderr }: { code: number; stdout: string; stderr: string },
  codes: readonly number[],
): unknown {
  if (!codes.includes(code)) throw new Error(`the CLI exited with ${code}: ${stderr}${stdout}`)
  return JSON.parse(stdout)
}
