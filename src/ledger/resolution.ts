import type { NanoBrl, PicoUsd } from '../lib/money.ts'

export type UsageKind = 'exact' | 'estimated' | 'none'

/** How a held call ended: exactly one of these takes effect for each hold. */
export interface Resolution {
  /** Of the hold. */
  readonly id: string
  /** Whose account is locked. */
  readonly customerId: string
  readonly outcome: 'charged' | 'released'
  /** Why it was released, or why the usage is an estimate; null for an exact charge. */
  readonly reason: string | null
  readonly upstreamId: string | null
  readonly usageKind: UsageKind
  readonly promptTokens: number
  readonly cachedTokens: number
  readonly cacheWriteTokens: number
  readonly completionTokens: number
  readonly reasoningTokens: number
  readonly costPicoUsd: PicoUsd
  readonly billedNanoBrl: NanoBrl
  readonly billedPicoUsd: PicoUsd
  readonly firstByteMs: number | null
  readonly durationMs: number | null
  /** The price of the route that answered; null: the price that the hold was made with. */
  readonly priceId: number | null
  /** JSON of how many of each unit were used beside tokens; null for none. */
  readonly units: string | null
  /** JSON of the upstreams that were tried, for the operator; null where the first one answered. */
  readonly attempts: string | null
  /**
   * The node that ran the call knows this to be the truth: the client has what is charged, or nothing of it. Where
   * the hold was resolved otherwise meanwhile, this outcome corrects that one, once. Not set for an estimate of
   * another node, nor for an answer that is not delivered before its resolution is known.
   */
  readonly isFinal: boolean
}

/** What is stored of a hold, in answer to its resolution. */
export type Resolved =
  /** By this resolution, in the database; `isRepeated`: an earlier try of it had been committed. */
  | { readonly kind: 'committed'; readonly isRepeated: boolean }
  /** The hold had been resolved otherwise; this resolution corrects that outcome. */
  | { readonly kind: 'corrected' }
  /** On the local disk, from where the database gets it. */
  | { readonly kind: 'spooled' }
  /** Somebody else resolved the hold, and that outcome stands. */
  | {
      readonly kind: 'superseded'
      readonly outcome: Resolution['outcome']
      readonly billedNanoBrl: NanoBrl
    }
  /** There is no hold and no event of it: the database lost the hold in a crash. Nothing is charged. */
  | { readonly kind: 'missing' }
  /** Neither the database nor the disk took it: nothing is charged by it, and nothing may be delivered. */
  | { readonly kind: 'unavailable' }

/** From a word of `resolve_again`, or `done`. */
export function readResolved(word: string): Resolved {
  const [kind, outcome, billed] = word.split(':')
  switch (kind) {
    case 'done':
      return COMMITTED
    case 'repeated':
      return { kind: 'committed', isRepeated: true }
    case 'corrected':
    case 'missing':
      return { kind }
    case 'superseded':
      return {
        kind,
        outcome: outcome as Resolution['outcome'],
        billedNanoBrl: BigInt(billed as string),
      }
    default:
      throw new Error(`the ledger answered a resolution with ${word}`)
  }
}

export const COMMITTED: Resolved = { kind: 'committed', isRepeated: false }

/** Gives the money back: nothing was used, or nothing that the customer is to pay for. */
export function release(
  hold: { id: string; customerId: string },
  reason: string,
  upstreamId: string | null = null,
): Resolution {
  return {
    id: hold.id,
    customerId: hold.customerId,
    outcome: 'released',
    reason,
    upstreamId,
    usageKind: 'none',
    promptTokens: 0,
    cachedTokens: 0,
    cacheWriteTokens: 0,
    completionTokens: 0,
    reasoningTokens: 0,
    costPicoUsd: 0n,
    billedNanoBrl: 0n,
    billedPicoUsd: 0n,
    firstByteMs: null,
    durationMs: null,
    priceId: null,
    units: null,
    attempts: null,
    isFinal: false,
  }
}

/** A line of the spool, with the names of `ledger_resolution`. Amounts are text: JSON numbers are doubles. */
export interface ResolutionRow {
  id: string
  customer_id: string
  outcome: string
  reason: string | null
  upstream_id: string | null
  usage_kind: string
  prompt_tokens: number
  cached_tokens: number
  cache_write_tokens: number
  completion_tokens: number
  reasoning_tokens: number
  cost_pico_usd: string
  billed_nano_brl: string
  billed_pico_usd: string
  first_byte_ms: number | null
  duration_ms: number | null
  answered_price_id: number | null
  units: string | null
  attempts: string | null
  is_final: boolean
}

export function toRow(resolution: Resolution): ResolutionRow {
  return {
    id: resolution.id,
    customer_id: resolution.customerId,
    outcome: resolution.outcome,
    reason: resolution.reason,
    upstream_id: resolution.upstreamId,
    usage_kind: resolution.usageKind,
    prompt_tokens: resolution.promptTokens,
    cached_tokens: resolution.cachedTokens,
    cache_write_tokens: resolution.cacheWriteTokens,
    completion_tokens: resolution.completionTokens,
    reasoning_tokens: resolution.reasoningTokens,
    cost_pico_usd: resolution.costPicoUsd.toString(),
    billed_nano_brl: resolution.billedNanoBrl.toString(),
    billed_pico_usd: resolution.billedPicoUsd.toString(),
    first_byte_ms: resolution.firstByteMs,
    duration_ms: resolution.durationMs,
    answered_price_id: resolution.priceId,
    units: resolution.units,
    attempts: resolution.attempts,
    is_final: resolution.isFinal,
  }
}
