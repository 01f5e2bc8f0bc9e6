import { sql } from 'kysely'
import type { Database } from '../../platform/db/open.ts'
import { queueMail } from '../../deliveries/email/queue-mail.ts'
import { createId } from '../../platform/lib/ids.ts'

const TEMPLATE = 'exportacao_pronta'

/** Queues a mail about a copy of the account's data, at most about once a day: programs may fetch the copy often. */
export async function mailExport(trx: Database, customerId: string): Promise<void> {
  const { rows } = await sql`
    select 1 from mails
    where customer_id = ${customerId} and template = ${TEMPLATE} and created_at > now() - interval '1 day'
    union all
    select 1 from notifications
    where customer_id = ${customerId} and template = ${TEMPLATE} and sent_at > now() - interval '1 day'
    limit 1`.execute(trx)
  if (rows.length > 0) return
  // A reference of its own: in a snapshot, a conflict with a mail of a concurrent copy would be an error.
  await queueMail(trx, {
    customerId,
    template: TEMPLATE,
    reference: createId(),
    data: { at: new Date().toISOString() },
  })
}
