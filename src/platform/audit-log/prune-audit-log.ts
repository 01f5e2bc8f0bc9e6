import { sql } from 'kysely'
import type { Database } from '../db/open.ts'
import { audited, SYSTEM } from './audited.ts'

/**
 * The years for which acts are kept. Access logs must be kept for six months (Marco Civil, art. 15), and what explains
 * a charge, a refund or a credit for five years from the end of its year (CTN, art. 173): at most six.
 */
export const YEARS_KEPT = 6
const ROWS_AT_ONCE = 5_000

/** Deletes rows of acts of more than six years ago. Each deletion records its number of rows. Returns their sum. */
export async function pruneAuditLog(
  db: Database,
  isOver: () => boolean = () => false,
): Promise<number> {
  let pruned = 0
  for (let last = ROWS_AT_ONCE; last === ROWS_AT_ONCE && !isOver(); pruned += last)
    last = await pruneSome(db)
  return pruned
}

function pruneSome(db: Database): Promise<number> {
  return audited(db, SYSTEM, async (trx, record) => {
    const { numAffectedRows = 0n } = await sql`
      delete from audit_log where id in (
        select id from audit_log
        where created_at < now() - make_interval(years => ${YEARS_KEPT})
        order by created_at, id limit ${ROWS_AT_ONCE})`.execute(trx)
    const rows = Number(numAffectedRows)
    const act = { action: 'audit_log.pruned', customerId: null, subjectId: null } as const
    if (rows > 0) await record({ ...act, details: { rows, years_kept: YEARS_KEPT } })
    return rows
  })
}
