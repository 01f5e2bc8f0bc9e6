import type { RecordAct } from '../../platform/audit-log/audited.ts'
import type { Database } from '../../platform/db/open.ts'
import { createId } from '../../platform/lib/ids.ts'
import { queueMail } from './queue-mail.ts'

const TEMPLATES = {
  webhook: 'webhook_desativado',
  usage_destination: 'destino_de_uso_desligado',
} as const

/**
 * Records that a receiver is switched off because of its failures, and mails its customer. Runs in the transaction that
 * switches it off.
 */
export async function reportSwitchedOff(
  trx: Database,
  record: RecordAct,
  kind: keyof typeof TEMPLATES,
  {
    id,
    customerId,
    url,
    reason,
  }: {
    readonly id: string
    readonly customerId: string
    readonly url: string
    readonly reason: 'gone' | 'failing'
  },
): Promise<void> {
  await record({ action: `${kind}.disabled`, customerId, subjectId: id, details: { reason } })
  await queueMail(trx, {
    customerId,
    template: TEMPLATES[kind],
    reference: createId(),
    data: { id, url, reason, at: new Date().toISOString() },
  })
}
