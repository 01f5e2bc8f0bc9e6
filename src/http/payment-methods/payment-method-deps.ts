import type { Database } from '../../db/open.ts'
import type { Processor } from '../../payments/processor.ts'
import type { WebhookSettings } from '../../webhooks/webhook-settings.ts'
import type { CardGuardDeps } from './too-many-rejected-cards.ts'

export interface PaymentMethodDeps extends CardGuardDeps {
  readonly db: Database
  readonly mode: 'sandbox' | 'live'
  readonly payments: { readonly processor: Processor | undefined }
  readonly webhooks: WebhookSettings
}
