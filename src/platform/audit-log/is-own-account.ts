import { sql } from 'kysely'
import type { Database } from '../db/open.ts'

/**
 * Whether an operator's act would be for their own account: their own as a customer, or one whose team they belong to
 * and whose balance they can spend. An operator on the command line is no customer: `operatorId` is undefined.
 */
export async function isOwnAccount(
  db: Database,
  {
    operatorId,
    customerId,
  }: { readonly operatorId: string | undefined; readonly customerId: string },
): Promise<boolean> {
  if (operatorId === undefined) return false
  if (operatorId === customerId) return true
  const { rows } = await sql`
    select 1 from teams t join team_members m on m.team_id = t.id
    where t.customer_id = ${customerId} and t.deleted_at is null and m.customer_id = ${operatorId}
    limit 1`.execute(db)
  return rows.length > 0
}
