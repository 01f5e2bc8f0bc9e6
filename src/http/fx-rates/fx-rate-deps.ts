import type { Database } from '../../db/open.ts'

export interface FxRateDeps {
  readonly db: Database
  readonly mode: 'sandbox' | 'live'
}
