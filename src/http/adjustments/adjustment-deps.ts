import type { Database } from '../../db/open.ts'
import type { NanoBrl } from '../../lib/money.ts'

export interface AdjustmentDeps {
  readonly db: Database
  readonly operators: {
    /** A larger adjustment needs a second operator. */
    readonly approvalAboveNanoBrl: NanoBrl
  }
}
