import type { Database } from '../../platform/db/open.ts'

export interface UsageSessionDeps {
  readonly db: Database
}
