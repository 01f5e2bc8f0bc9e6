/** What is asked of the ledger about a call, and what it answers. */
import type { NanoBrl, PicoUsd } from '../lib/money.ts'

/** A call that only counts against the rate limits: it was refused for another reason. */
export interface CountOnly {
  readonly ip: string
  /** Requests a minute. */
  readonly ipLimit: number
  /** Undefined where no valid key came with the call. */
  readonly key?: { readonly id: string; readonly requestsPerMinute: number } | undefined
}

/** A call that asks for money to be set aside before it is sent upstream. */
export interface Attempt {
  /** Ours, made before the first write: the idempotency key of the hold and of its resolution. */
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
   * The hold need not be on the disk when it is taken: only a crash of the database itself forgets it then,
   * in the moment after. For calls whose client gets nothing before their resolution is committed.
   */
  readonly mayLag: boolean
  readonly amountNanoBrl: NanoBrl
  /** The same ceiling as billed in USD, counted against the key's budget where it has one. */
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
  /** Which request of this minute this one is, for its key (null without one) and for its address. */
  readonly keySequence: number | null
  readonly ipSequence: number
  /** Credits less debits less charges, what is held not taken off; null where no account was asked for. */
  readonly balanceNanoBrl: NanoBrl | null
  readonly heldNanoBrl: NanoBrl | null
  /** What is left of the key's budget beside what is held of it; null without a budget. */
  readonly budgetLeftPicoUsd: PicoUsd | null
  /** What is left of the cap of the key's team, likewise; null without a cap. */
  readonly teamLeftNanoBrl: NanoBrl | null
  /** The database's clock, which the windows are cut by. */
  readonly at: Date
}

/**
 * The database could not be asked, or its answer was lost. Nothing was sent upstream; a hold that was taken all the
 * same is released by the reconciliation of this node (`reconcile.ts`).
 */
export interface LedgerUnavailable {
  readonly kind: 'unavailable'
}
