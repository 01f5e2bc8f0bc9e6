import type { Database } from '../../platform/db/open.ts'

export interface AlertDeps {
  readonly db: Database
}
