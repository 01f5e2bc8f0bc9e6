import type { Database } from '../../db/open.ts'
import type { Processor } from '../../payments/processor.ts'
import type { WebhookSettings } from '../../webhooks/webhook-settings.ts'

export interface PaymentMethodDeps {
  readonly db: Database
  readonly mode: 'sandbox' | 'live'
  readonly payments: { readonly processor: Processor | undefined }
  readonly webhooks: WebhookSettings
}
