import type { Database } from '../../platform/db/open.ts'
import type { WebhookSettings } from '../../deliveries/webhooks/webhook-settings.ts'

export interface WebhookDeps {
  readonly db: Database
  readonly webhooks: WebhookSettings
}
