import type { Database } from '../../db/open.ts'

export interface SpendingGuardDeps {
  readonly db: Database
}
