import type { Database } from '../../db/open.ts'

export interface AlertDeps {
  readonly db: Database
}
