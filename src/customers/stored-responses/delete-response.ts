import { sql } from 'kysely'
import { audited, type Actor } from '../../platform/audit-log/audited.ts'
import type { Database } from '../../platform/db/open.ts'
import { selectReadable, type ResponseReader } from './response-reader.ts'

/** Returns false if the reader sees no such response. Responses that continue it stay, and can no longer be continued. */
export function deleteResponse(
  db: Database,
  actor: Actor,
  { reader, id }: { readonly reader: ResponseReader; readonly id: string },
): Promise<boolean> {
  return audited(db, actor, async (trx, record) => {
    const { rows } = await sql`
      delete from stored_responses
      where id in (select id from (${selectReadable(reader, sql`r.id = ${id}`)}) r)
      returning id`.execute(trx)
    if (rows.length === 0) return false
    const { customerId } = reader
    await record({ action: 'response.deleted', customerId, subjectId: id })
    return true
  })
}
