/** The runs of the comparison with a processor. Only a finished run proves anything. */
import { sql, type Selectable } from 'kysely'
import type { Database } from '../../platform/db/open.ts'
import type { Tables } from '../../platform/db/tables.ts'
import { createId } from '../../platform/lib/ids.ts'

export type RunRow = Selectable<Tables['reconciliation_runs']>

export async function startRun(
  db: Database,
  run: { processor: string; fromDay: string; toDay: string },
): Promise<string> {
  const id = createId()
  await db
    .insertInto('reconciliation_runs')
    .values({ id, processor: run.processor, from_day: run.fromDay, to_day: run.toDay })
    .execute()
  return id
}

export async function finishRun(
  db: Database,
  id: string,
  counts: { payments: number; topUps: number; repaired: number },
): Promise<void> {
  await db
    .updateTable('reconciliation_runs')
    .set({
      finished_at: sql<Date>`now()`,
      payments: counts.payments,
      top_ups: counts.topUps,
      mended: counts.repaired,
    })
    .where('id', '=', id)
    .execute()
}

export async function failRun(db: Database, id: string, failure: string): Promise<void> {
  await db
    .updateTable('reconciliation_runs')
    .set({ failure: failure.slice(0, 500) })
    .where('id', '=', id)
    .execute()
}

export interface LastRuns {
  /** Running, finished or failed. */
  readonly last: RunRow | undefined
  readonly lastFinished: RunRow | undefined
}

export async function findLastRuns(db: Database): Promise<LastRuns> {
  const newest = db
    .selectFrom('reconciliation_runs')
    .selectAll()
    .orderBy('started_at', 'desc')
    .limit(1)
  return {
    last: await newest.executeTakeFirst(),
    lastFinished: await newest.where('finished_at', 'is not', null).executeTakeFirst(),
  }
}

const KEPT_DAYS = 400

export async function pruneRuns(db: Database): Promise<void> {
  await sql`
    delete from reconciliation_runs where started_at < now() - make_interval(days => ${KEPT_DAYS})`.execute(
    db,
  )
}
