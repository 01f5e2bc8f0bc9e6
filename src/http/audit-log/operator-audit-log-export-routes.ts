/**
 * The audit log as CSV, for administrators. An administrator is a customer with an e-mail of `ADMIN_EMAILS`. That is
 * safe only while every e-mail of a customer is verified: the operator sets it by the command line; the identity
 * provider gives those that it verified (`src/identity`), and never one of `ADMIN_EMAILS`; people prove once that they
 * receive mail at theirs (`src/identity/sign-in`), and cannot change it. Any other way to register or change an e-mail must
 * verify it first, and must ignore upper and lower case (`audit-log.test.ts` fails on a new field of that name).
 */
import { exportAuditLog, type AuditLogEntry } from '../../platform/audit-log/read-audit-log.ts'
import type { CsvField } from '../../platform/lib/csv.ts'
import { actorOf } from '../rest/authenticate.ts'
import type { HttpParts } from '../rest/parts.ts'
import { restRoute } from '../rest/rest-route.ts'
import { sendCsv } from '../rest/send-download.ts'
import { auditLogDays, checkDays } from './operator-audit-log-routes.ts'

type Deps = Pick<HttpParts, 'db' | 'primary'>

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
    readsFrom: 'replica',
    query: auditLogDays,
    answer: 'text/csv',
    async handle({ caller, query, reply }, deps: Deps) {
      const { from, to } = query
      checkDays(query)
      const range = { from, to, rowsMax: ROWS_MAX }
      const batches = await exportAuditLog(deps.primary, actorOf(caller), range, deps.db)
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
