import type { Database } from '../../platform/db/open.ts'

export interface FxRateDeps {
  readonly db: Database
  readonly mode: 'sandbox' | 'live'
}
