import type { Database } from '../db/open.ts'
import { audited, type Actor } from './audited.ts'
import { readAuditLog, type AuditLogEntry } from './read-audit-log.ts'

/** Records the export before the first entry is read, so that every export is in the audit log, an aborted one too. */
export async function exportAuditLog(
  db: Database,
  actor: Actor,
  {
    from,
    to,
    rowsMax,
  }: {
    /** Days, both inclusive. */
    readonly from: string | undefined
    readonly to: string | undefined
    readonly rowsMax: number
  },
  /** Where the entries are read. */
  reads: Database = db,
): Promise<AsyncGenerator<readonly AuditLogEntry[]>> {
  await audited(db, actor, async (_trx, record) => {
    const details = { from: from ?? null, to: to ?? null }
    await record({ action: 'audit_log.exported', customerId: null, subjectId: null, details })
  })
  return readAuditLog(reads, { from, to, rowsMax })
}
