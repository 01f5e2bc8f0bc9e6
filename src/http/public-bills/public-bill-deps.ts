import type { Database } from '../../db/open.ts'

export interface PublicBillDeps {
  readonly db: Database
  readonly publicUrl: string | undefined
}
