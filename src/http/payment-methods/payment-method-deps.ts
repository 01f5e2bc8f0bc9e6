import type { Database } from '../../platform/db/open.ts'
import type { Processor } from '../../money/payments/processor.ts'
import type { WebhookSettings } from '../../deliveries/webhooks/webhook-settings.ts'
import type { CardGuardDeps } from './too-many-rejected-cards.ts'

export interface PaymentMethodDeps extends CardGuardDeps {
  readonly db: Database
  readonly mode: 'sandbox' | 'live'
  readonly payments: { readonly processor: Processor | undefined }
  readonly webhooks: WebhookSettings
}
