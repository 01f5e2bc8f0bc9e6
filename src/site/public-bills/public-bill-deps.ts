import type { Database } from '../../platform/db/open.ts'

export interface PublicBillDeps {
  readonly db: Database
  readonly publicUrl: string | undefined
}
