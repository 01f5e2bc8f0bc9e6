import { queueMail } from '../../deliveries/email/queue-mail.ts'
import type { OnWebhookDisabled } from '../../deliveries/webhooks/conclude-attempt.ts'

/** Queues one mail each time an endpoint is disabled. */
export const mailDisabledWebhook: OnWebhookDisabled = async (trx, endpoint) => {
  const at = (endpoint.disabledAt ?? new Date()).toISOString()
  await queueMail(trx, {
    customerId: endpoint.customerId,
    template: 'webhook_desativado',
    reference: `${endpoint.id} ${at}`,
    data: { id: endpoint.id, url: endpoint.url, reason: endpoint.disabledReason, at },
  })
}
