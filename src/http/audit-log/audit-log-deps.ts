import type { Database } from '../../db/open.ts'

export interface AuditLogDeps {
  readonly db: Database
}
