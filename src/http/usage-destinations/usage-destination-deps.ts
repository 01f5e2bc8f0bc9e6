import type { Database } from '../../platform/db/open.ts'
import type { DestinationSettings } from '../../deliveries/usage-destinations/destination-settings.ts'

export interface UsageDestinationDeps {
  readonly db: Database
  /** The operator's rules for addresses of customers. */
  readonly webhooks: DestinationSettings
}
