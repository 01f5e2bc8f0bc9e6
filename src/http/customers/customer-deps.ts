import type { Database } from '../../platform/db/open.ts'
import type { OperatorRole } from '../rest/access.ts'

export interface CustomerDeps {
  readonly db: Database
  /** By e-mail, in lower case. */
  readonly operatorRoles: ReadonlyMap<string, OperatorRole>
}
