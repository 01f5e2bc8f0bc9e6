import type { Database } from '../../platform/db/open.ts'

export interface ReconciliationDeps {
  readonly db: Database
}
