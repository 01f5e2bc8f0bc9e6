import type { Database } from '../../db/open.ts'
import type { WebhookSettings } from '../../webhooks/webhook-settings.ts'

export interface WebhookDeps {
  readonly db: Database
  readonly webhooks: WebhookSettings
}
