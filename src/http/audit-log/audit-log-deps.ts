import type { Database } from '../../platform/db/open.ts'

export interface AuditLogDeps {
  readonly db: Database
  /** For what the export records of itself. */
  readonly primary: Database
}
