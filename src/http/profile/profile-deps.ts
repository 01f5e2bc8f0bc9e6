import type { Database } from '../../db/open.ts'

export interface ProfileDeps {
  readonly db: Database
}
