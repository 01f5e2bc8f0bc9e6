import type { Database } from '../../db/open.ts'
import type { NanoBrl } from '../../lib/money.ts'

export interface AdjustmentDeps {
  readonly db: Database
  readonly operators: {
    /** An adjustment above it waits for a second operator. */
    readonly approvalAboveNanoBrl: NanoBrl
  }
}
