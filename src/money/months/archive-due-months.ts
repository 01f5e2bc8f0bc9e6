import { SYSTEM } from '../../platform/audit-log/audited.ts'
import type { ArchiveStore } from '../../platform/archive/archive-store.ts'
import type { Database } from '../../platform/db/open.ts'
import type { Log } from '../../platform/lib/log.ts'
import { ArchiveFault, addMonths, type Month } from './month.ts'
import { archiveMonth } from './archive-month.ts'
import { findNextMonth } from './find-obstacle.ts'

export interface DueMonths {
  readonly store: ArchiveStore
  /** A month leaves when so many newer ones have begun after it. */
  readonly afterMonths: number
}

/** Archives every month that is old enough, and removes rows that an earlier run left. */
export async function archiveDueMonths(
  db: Database,
  { store, afterMonths }: DueMonths,
  { log, now = new Date(), isOver = () => false }: { log: Log; now?: Date; isOver?: () => boolean },
): Promise<void> {
  for (const month of await listUnremoved(db)) await archive(month)
  const last = addMonths(now.toISOString().slice(0, 7), -afterMonths)
  while (!isOver()) {
    const month = await findNextMonth(db)
    if (month === undefined || month > last || !(await archive(month))) return
  }

  async function archive(month: Month): Promise<boolean> {
    try {
      const { files, events, bytes, removal } = await archiveMonth(db, month, {
        store,
        actor: SYSTEM,
        now,
      })
      log.info('usage_month_archived', { month, files, events, bytes, rows: removal.kind })
      return true
    } catch (error) {
      if (!(error instanceof ArchiveFault)) throw error
      log.warn('usage_month_not_archived', { month, reason: error.message })
      return false
    }
  }
}

async function listUnremoved(db: Database): Promise<Month[]> {
  const rows = await db
    .selectFrom('archived_months')
    .select('month')
    .where('archived_at', 'is not', null)
    .where('removed_at', 'is', null)
    .orderBy('month')
    .execute()
  return rows.map(({ month }) => month.slice(0, 7))
}
