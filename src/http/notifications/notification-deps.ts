import type { Database } from '../../db/open.ts'

export interface NotificationDeps {
  readonly db: Database
}
