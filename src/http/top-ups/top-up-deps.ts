import type { Database } from '../../platform/db/open.ts'
import type { MailSender } from '../../deliveries/email/mail-sender.ts'
import type { Processor } from '../../money/payments/processor.ts'
import type { WebhookSettings } from '../../deliveries/webhooks/webhook-settings.ts'
import type { CardGuardDeps } from '../payment-methods/too-many-rejected-cards.ts'

export interface TopUpDeps extends CardGuardDeps {
  readonly db: Database
  readonly payments: { readonly processor: Processor | undefined }
  readonly webhooks: WebhookSettings
  /** The sender named on receipts. */
  readonly sender: MailSender
}

/** The limits that the OpenAPI description names. */
export interface TopUpTerms {
  /** In whole BRL. */
  readonly topUpMinBrl: number
}
