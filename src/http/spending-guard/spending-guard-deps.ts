import type { Database } from '../../platform/db/open.ts'

export interface SpendingGuardDeps {
  readonly db: Database
}
