import { sql } from 'kysely'
import { exactTime, isBefore } from '../db/exact-time.ts'
import type { Database } from '../db/open.ts'
import { audited, type Actor } from './audited.ts'

/** A row of the audit log. */
export interface AuditLogEntry {
  readonly id: string
  /** To the microsecond. */
  readonly createdAt: string
  readonly actorKind: 'customer' | 'operator' | 'system'
  readonly actorId: string | null
  readonly apiKeyId: string | null
  readonly ip: string | null
  readonly action: string
  readonly customerId: string | null
  readonly subjectId: string | null
  readonly details: Readonly<Record<string, unknown>> | null
  readonly sessionId: string | null
}

/** An undefined field does not filter. */
export interface AuditLogFilter {
  /** `YYYY-MM-DD`, both inclusive; the days must exist. */
  readonly from?: string | undefined
  readonly to?: string | undefined
  /** The affected customer. */
  readonly customerId?: string | undefined
  /** A prefix of the act's name. */
  readonly actionBeginning?: string | undefined
}

/** The filter's days are in the operators' time zone, wherever the server is. */
const TIMEZONE = 'America/Sao_Paulo'
/** Rows in memory at a time. */
const BATCH_ROWS = 1_000

/**
 * Yields batches, newest first, `rowsMax` rows at most. Rows never change and new ones come first, so each batch
 * continues where the previous one ended.
 */
export async function* readAuditLog(
  db: Database,
  { rowsMax, ...filter }: AuditLogFilter & { rowsMax: number },
): AsyncGenerator<readonly AuditLogEntry[]> {
  let last: AuditLogEntry | undefined
  for (let left = rowsMax; left > 0;) {
    const limit = Math.min(left, BATCH_ROWS)
    const after = last && { at: last.createdAt, id: last.id }
    const rows = await listAuditLog(db, { ...filter, after, limit })
    yield rows
    if (rows.length < limit) return
    last = rows.at(-1)
    left -= rows.length
  }
}

/** Returns acts, the newest first, starting after the position `after`. */
export async function listAuditLog(
  db: Database,
  page: AuditLogFilter & {
    readonly after: { readonly at: string; readonly id: string } | undefined
    readonly limit: number
  },
): Promise<AuditLogEntry[]> {
  const { from, to, customerId, actionBeginning, after, limit } = page
  const conditions = [
    sql`true`,
    ...(from === undefined
      ? []
      : [sql`created_at >= ${from}::date::timestamp at time zone ${TIMEZONE}`]),
    ...(to === undefined
      ? []
      : [sql`created_at < (${to}::date + 1)::timestamp at time zone ${TIMEZONE}`]),
    ...(customerId === undefined ? [] : [sql`customer_id = ${customerId}`]),
    ...(actionBeginning === undefined ? [] : [sql`starts_with(action, ${actionBeginning})`]),
    ...(after ? [isBefore(after)] : []),
  ]
  const { rows } = await sql<AuditLogEntry>`
    select id, ${exactTime('created_at')} as "createdAt", actor_kind as "actorKind",
      actor_id as "actorId", api_key_id as "apiKeyId", ip, action, customer_id as "customerId",
      subject_id as "subjectId", details, session_id as "sessionId"
    from audit_log
    where ${sql.join(conditions, sql` and `)}
    order by created_at desc, id desc
    limit ${limit}`.execute(db)
  return rows
}

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
