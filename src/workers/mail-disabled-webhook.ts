import { queueMail } from '../email/queue-mail.ts'
import type { OnWebhookDisabled } from '../webhooks/conclude-attempt.ts'

/** Once for each time that an endpoint was switched off. */
export const mailDisabledWebhook: OnWebhookDisabled = async (trx, endpoint) => {
  const at = (endpoint.disabledAt ?? new Date()).toISOString()
  await queueMail(trx, {
    customerId: endpoint.customerId,
    template: 'webhook_desativado',
    reference: `${endpoint.id} ${at}`,
    data: { id: endpoint.id, url: endpoint.url, reason: endpoint.disabledReason, at },
  })
}
