/** The ledger's input for a call, and its verdicts. */
import type { NanoBrl, PicoUsd } from '../lib/money.ts'

/** A request that was refused for another reason, and only counts against the rate limits. */
export interface CountOnly {
  readonly ip: string
  /** Requests a minute. */
  readonly ipLimit: number
  /** Undefined for a request without a valid key. */
  readonly key?: { readonly id: string; readonly requestsPerMinute: number } | undefined
}

/** A call that needs a hold before it is sent upstream. */
export interface Attempt {
  /** Made by this node before the first write: the idempotency key of the hold and of its resolution. */
  readonly id: string
  /** True when an earlier attempt of the same call was counted against the rate limits already. */
  readonly isRepeated: boolean
  readonly customerId: string
  readonly key: {
    readonly id: string
    readonly version: number
    readonly requestsPerMinute: number
    readonly tokensPerMinute: number | null
  }
  readonly ip: string
  readonly ipLimit: number
  readonly requestId: string
  readonly sessionId: string | null
  readonly modelId: string
  readonly isStream: boolean
  /**
   * The commit of the hold does not wait for the disk, so a crash of the database in the next moment loses the hold.
   * Only for calls whose client receives nothing before their resolution is committed.
   */
  readonly mayLag: boolean
  readonly amountNanoBrl: NanoBrl
  /** The same ceiling in billed USD, counted against the budget of the key, if it has one. */
  readonly budgetPicoUsd: PicoUsd
  readonly priceId: number
  readonly fxRateId: number
  readonly fxRateE4: bigint
  readonly markupE4: bigint
  readonly promptTokensEstimated: number
  /** Counted against the key's tokens a minute until the true number is known. */
  readonly tokensCounted: number
}

export type VerdictKind =
  | 'held'
  | 'counted'
  | 'ip_limited'
  | 'key_limited'
  | 'tokens_limited'
  | 'stale_key'
  | 'short_balance'
  | 'short_team'
  | 'short_budget'

export interface Verdict {
  readonly kind: VerdictKind
  /** The number of this request within the minute, for its key (null without one) and for its address. */
  readonly keySequence: number | null
  readonly ipSequence: number
  /** Credits less debits less charges, before open holds; null for a request without a hold. */
  readonly balanceNanoBrl: NanoBrl | null
  readonly heldNanoBrl: NanoBrl | null
  /** The rest of the key's budget, less open holds; null without a budget. */
  readonly budgetLeftPicoUsd: PicoUsd | null
  /** The rest of the cap of the key's team, less open holds; null without a cap. */
  readonly teamLeftNanoBrl: NanoBrl | null
  /** By the database's clock, which also cuts the rate windows. */
  readonly at: Date
}

/**
 * The database did not answer. Nothing was sent upstream; if the hold was taken all the same, the reconciliation of
 * this node releases it (`reconcile.ts`).
 */
export interface LedgerUnavailable {
  readonly kind: 'unavailable'
}
