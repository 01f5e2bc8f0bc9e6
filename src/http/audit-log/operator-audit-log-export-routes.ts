/**
 * What admins read. An admin is whoever has an e-mail of `ADMIN_EMAILS`. That is safe as long as nobody can
 * give themselves an e-mail: the operator gives them, by the command line, the identity provider those that it
 * verified (`src/identity`), which gives nobody one of `ADMIN_EMAILS`, and people themselves one that they prove
 * to receive mail at (`src/sign-in`), and never another one after it. Whatever else lets customers register or
 * change an e-mail must make it theirs only after they proved that they receive mail there, and must take upper and
 * lower case for the same (`audit-log.test.ts` fails on a new field of that name).
 */
import { audited } from '../../audit-log/audited.ts'
import { readAuditLog, type AuditLogEntry } from '../../audit-log/read-audit-log.ts'
import type { CsvField } from '../../lib/csv.ts'
import { actorOf } from '../rest/authenticate.ts'
import type { AuditLogDeps } from './audit-log-deps.ts'
import { restRoute } from '../rest/rest-route.ts'
import { sendCsv } from '../rest/send-csv.ts'
import { auditLogDays, checkDays } from './audit-log-days.ts'

/** The specification's limit. */
const ROWS_MAX = 10_000

const COLUMNS = [
  'id',
  'created_at',
  'actor_kind',
  'actor_id',
  'api_key_id',
  'ip',
  'action',
  'customer_id',
  'subject_id',
  'details',
  'session_id',
]

export const operatorAuditLogExportRoutes = [
  restRoute({
    method: 'GET',
    path: '/admin/audit-log/export.csv',
    tag: 'Administração',
    summary: `O registro de auditoria em CSV: até ${ROWS_MAX.toLocaleString('pt-BR')} atos, os mais novos primeiro`,
    access: 'admin',
    query: auditLogDays,
    answer: 'text/csv',
    async handle({ caller, query, reply }, deps: AuditLogDeps) {
      const { from, to } = query
      checkDays(query)
      // Told before the first row goes out, so that no export is untold.
      await audited(deps.db, actorOf(caller), async (_trx, record) => {
        const details = { from: from ?? null, to: to ?? null }
        await record({ action: 'audit_log.exported', customerId: null, subjectId: null, details })
      })
      const batches = readAuditLog(deps.db, { from, to, rowsMax: ROWS_MAX })
      const fileName = `audit-log${from === undefined ? '' : `-${from}`}${to === undefined ? '' : `-${to}`}.csv`
      return sendCsv(reply, fileName, COLUMNS, rowsOf(batches))
    },
  }),
]

async function* rowsOf(
  batches: AsyncIterable<readonly AuditLogEntry[]>,
): AsyncGenerator<CsvField[][]> {
  for await (const batch of batches) yield batch.map(fieldsOf)
}

function fieldsOf(entry: AuditLogEntry): CsvField[] {
  return [
    entry.id,
    entry.createdAt,
    entry.actorKind,
    entry.actorId,
    entry.apiKeyId,
    entry.ip,
    entry.action,
    entry.customerId,
    entry.subjectId,
    entry.details && JSON.stringify(entry.details),
    entry.sessionId,
  ]
}
