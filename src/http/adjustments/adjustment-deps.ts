import type { Database } from '../../platform/db/open.ts'
import type { NanoBrl } from '../../platform/lib/money.ts'

export interface AdjustmentDeps {
  readonly db: Database
  readonly operators: {
    /** A larger adjustment needs a second operator. */
    readonly approvalAboveNanoBrl: NanoBrl
  }
}
