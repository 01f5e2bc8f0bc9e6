import type { Database } from '../../platform/db/open.ts'

export interface RefundDeps {
  readonly db: Database
  readonly payments: {
    /** In whole BRL: a larger refund waits for an operator. */
    readonly refundReviewAboveBrl: number
  }
}
