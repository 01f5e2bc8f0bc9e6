import type { Database } from '../../db/open.ts'

export interface ReconciliationDeps {
  readonly db: Database
}
