import { sql } from 'kysely'
import { exactTime } from '../db/exact-time.ts'
import type { Database } from '../db/open.ts'

/** One act, with all that the log has of it. */
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

/** What is wanted of the log; what is not said is all. */
export interface AuditLogFilter {
  /** Days, both inclusive and both of them days that exist. */
  readonly from?: string | undefined
  readonly to?: string | undefined
  /** Whom acts are about. */
  readonly customerId?: string | undefined
  /** With which the name of the act begins. */
  readonly actionBeginning?: string | undefined
}

/** Days of operators, wherever the server stands. */
const TIMEZONE = 'America/Sao_Paulo'
/** At once in memory. */
const BATCH_ROWS = 1_000

/**
 * The newest first, `rowsMax` at the most, by batches. Rows never change and come on top, so that one batch goes
 * on where the one before ended.
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

/** The newest first, behind `after`. */
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
    ...(after ? [sql`(created_at, id) < (${after.at}::timestamptz, ${after.id}::uuid)`] : []),
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
