import type { Database } from '../../db/open.ts'

export interface ImageDeps {
  readonly db: Database
}
