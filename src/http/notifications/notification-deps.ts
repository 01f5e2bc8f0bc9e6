import type { Database } from '../../platform/db/open.ts'

export interface NotificationDeps {
  readonly db: Database
}
