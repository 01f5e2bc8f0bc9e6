import { queueMail } from '../../deliveries/email/queue-mail.ts'
import { createId } from '../../platform/lib/ids.ts'
import type { OnSecretRotated } from '../../deliveries/webhooks/webhook-endpoints.ts'

/** Queues one mail for each new secret: a customer who did not ask for it must learn of it. */
export const mailRotatedSecret: OnSecretRotated = async (trx, { id, customerId, url }) => {
  await queueMail(trx, {
    customerId,
    template: 'webhook_segredo_rotacionado',
    reference: createId(),
    data: { id, url, at: new Date().toISOString() },
  })
}
