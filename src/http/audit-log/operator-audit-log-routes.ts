import Type from 'typebox'
import {
  exportAuditLog,
  type AuditLogEntry,
  listAuditLog,
} from '../../platform/audit-log/read-audit-log.ts'
import type { CsvField } from '../../platform/lib/csv.ts'
import { actorOf } from '../rest/authenticate.ts'
import type { HttpParts } from '../rest/parts.ts'
import { restRoute } from '../rest/rest-route.ts'
import { sendCsv } from '../rest/send-download.ts'
import { findCustomerNames } from '../../customers/customers.ts'
import { toMilliseconds } from '../../platform/db/exact-time.ts'
import type { AnswerOf } from '../rest/answer-of.ts'
import { answer, dateTime, nullable, uuid, wholeNumber, dayInQuery } from '../rest/values.ts'
import { cursor, nextCursor, pageOf, readCursor } from '../rest/cursor.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'

/** The time range of a query, from days that the database must recognise. */
export const auditLogDays = {
  from: dayInQuery('Primeiro dia, no horário de Brasília.'),
  to: dayInQuery('Último dia, no horário de Brasília.'),
}

export function checkDays({ from, to }: { from?: string; to?: string }): void {
  if (from !== undefined && to !== undefined && from > to)
    throw new RestRefusal(400, 'invalid_request', 'from: não pode ser depois de to')
}

type Deps = Pick<HttpParts, 'db' | 'primary'>

const LIMIT_DEFAULT = 50
const LIMIT_MAX = 200

const text = nullable(Type.String())

const entry = answer({
  id: uuid,
  created_at: dateTime,
  action: Type.String({ description: 'Como `api_key.revoked`.' }),
  actor_kind: Type.Enum(['customer', 'operator', 'system'], {
    description: '`operator`: pela linha de comando do servidor.',
  }),
  actor_id: nullable(uuid),
  actor_name: text,
  api_key_id: nullable(uuid),
  session_id: nullable(uuid),
  ip: text,
  customer_id: nullable(uuid),
  customer_name: text,
  subject_id: text,
  details: nullable(Type.Record(Type.String(), Type.Unknown())),
})

/**
 * The routes of the audit log. Reading it is not recorded, because such rows would soon be most of it. Exporting it is.
 */
export const operatorAuditLogRoutes = [
  restRoute({
    method: 'GET',
    path: '/admin/audit-log',
    tag: 'Administração',
    summary: 'O registro de auditoria, os atos mais novos primeiro',
    access: 'admin',
    readsFrom: 'replica',
    query: {
      customer_id: Type.Optional(uuid),
      action: Type.Optional(
        Type.String({
          maxLength: 100,
          pattern: '^[a-z][a-z_]*(\\.[a-z_]*)?$',
          description: 'O começo do nome do ato: `adjustment.` ou `api_key.revoked`.',
        }),
      ),
      ...auditLogDays,
      limit: wholeNumber(1, LIMIT_MAX, LIMIT_DEFAULT),
      cursor,
    },
    answer: answer({ entries: Type.Array(entry), next_cursor: nextCursor }),
    async handle({ query }, deps: Deps) {
      const { from, to, customer_id: customerId, action, limit = LIMIT_DEFAULT } = query
      checkDays(query)
      const after = readCursor(query.cursor)
      const wanted = { from, to, customerId, actionBeginning: action, after, limit: limit + 1 }
      const found = await listAuditLog(deps.db, wanted)
      const { page, next_cursor } = pageOf(found, limit, ({ createdAt, id }) => ({
        at: createdAt,
        id,
      }))
      const ids = page.flatMap((each) => [each.actorId, each.customerId])
      const names = await findCustomerNames(deps.db, ids)
      return { entries: page.map((each) => entryBody(each, names)), next_cursor }
    },
  }),
]

function entryBody(
  found: AuditLogEntry,
  names: ReadonlyMap<string, string>,
): AnswerOf<typeof entry> {
  const nameOf = (id: string | null): string | null => names.get(id ?? '') ?? null
  return {
    id: found.id,
    created_at: toMilliseconds(found.createdAt),
    action: found.action,
    actor_kind: found.actorKind,
    actor_id: found.actorId,
    actor_name: nameOf(found.actorId),
    api_key_id: found.apiKeyId,
    session_id: found.sessionId,
    ip: found.ip,
    customer_id: found.customerId,
    customer_name: nameOf(found.customerId),
    subject_id: found.subjectId,
    details: found.details,
  }
}

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
