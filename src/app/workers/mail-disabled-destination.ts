import { queueMail } from '../../deliveries/email/queue-mail.ts'
import { createId } from '../../platform/lib/ids.ts'
import type { OnDestinationDisabled } from '../../deliveries/usage-destinations/record-sending.ts'

/** Queues one mail each time a destination of usage is switched off. */
export const mailDisabledDestination: OnDestinationDisabled = async (trx, { customerId, url }) => {
  await queueMail(trx, {
    customerId,
    template: 'destino_de_uso_desligado',
    reference: createId(),
    data: { url, at: new Date().toISOString() },
  })
}
