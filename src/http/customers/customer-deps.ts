import type { Database } from '../../db/open.ts'

export interface CustomerDeps {
  readonly db: Database
  /** In lower case: customers with these addresses may use `/admin`. */
  readonly adminEmails: ReadonlySet<string>
}
