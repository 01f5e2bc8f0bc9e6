import { dayInQuery } from '../rest/values.ts'
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
