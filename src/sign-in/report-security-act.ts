import type { RecordAct } from '../audit-log/audited.ts'
import type { Database } from '../db/open.ts'
import { queueMail } from '../email/queue-mail.ts'
import type { SecurityAct } from '../email/security-templates.ts'
import { createId } from '../lib/ids.ts'

/** Records the act in the audit log and warns the customer by mail, in the transaction of the act. */
export async function reportSecurityAct(
  trx: Database,
  record: RecordAct,
  report: {
    readonly act: SecurityAct
    readonly customerId: string
    readonly subjectId: string | null
    readonly ip: string | undefined
    readonly details?: Readonly<Record<string, number>>
    /** The passkey's name; it appears in the mail alone. */
    readonly name?: string | undefined
  },
): Promise<void> {
  const { act, customerId, subjectId, ip, details, name } = report
  await record({ action: act, customerId, subjectId, ...(details ? { details } : {}) })
  await queueMail(trx, {
    customerId,
    template: 'seguranca_da_conta',
    data: { act, at: new Date().toISOString(), ...(ip ? { ip } : {}), ...(name ? { name } : {}) },
    reference: createId(),
  })
}
