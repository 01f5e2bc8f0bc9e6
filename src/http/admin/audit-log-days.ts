import Type from 'typebox'
import { RestRefusal } from '../rest-refusal.ts'

/** Of a query: from when until when, by days that the database knows. */
export const auditLogDays = {
  from: day('Primeiro dia, no horário de Brasília.'),
  to: day('Último dia, no horário de Brasília.'),
}

export function checkDays({ from, to }: { from?: string; to?: string }): void {
  if (from !== undefined && to !== undefined && from > to)
    throw new RestRefusal(400, 'invalid_request', 'from: must not be after to')
}

function day(description: string) {
  // Years that the database knows: the format alone takes the year 0.
  return Type.Optional(Type.String({ format: 'date', pattern: '^[12]', description }))
}
