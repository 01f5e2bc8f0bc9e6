import type { Database } from '../../db/open.ts'

export interface ShieldDeps {
  readonly db: Database
}
