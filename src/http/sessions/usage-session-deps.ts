import type { Database } from '../../db/open.ts'

export interface UsageSessionDeps {
  readonly db: Database
}
