import type { Database } from '../../platform/db/open.ts'

export interface ShieldDeps {
  readonly db: Database
}
