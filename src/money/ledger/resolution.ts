import type { NanoBrl, PicoUsd } from '../../platform/lib/money.ts'

export type UsageKind = 'exact' | 'estimated' | 'none'

/** What a held call comes to. Exactly one resolution takes effect for each hold. */
export interface Resolution {
  /** The id of the hold. */
  readonly id: string
  /** The customer whose account is locked. */
  readonly customerId: string
  readonly outcome: 'charged' | 'released'
  /** The reason of a release or of an estimate; null for an exact charge. */
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
  /** JSON with the number of each unit used beside tokens; null for none. */
  readonly units: string | null
  /** JSON of the upstreams that were tried, for the operator; null if the first one answered. */
  readonly attempts: string | null
  /**
   * The node that ran the call knows this outcome to be true: the client has the charged answer, or nothing of it. If
   * the hold was meanwhile resolved differently, this outcome corrects that one, once. Not set for an estimate by
   * another node, nor for an answer that is delivered only after its resolution is known.
   */
  readonly isFinal: boolean
}

/** The stored outcome of a hold, as the answer to a resolution. */
export type Resolved =
  /** This resolution is in the database; `isRepeated`: an earlier attempt to store it had been committed. */
  | { readonly kind: 'committed'; readonly isRepeated: boolean }
  /** The hold had been resolved differently; this resolution corrects that outcome. */
  | { readonly kind: 'corrected' }
  /** Stored on the local disk, to be replayed to the database. */
  | { readonly kind: 'spooled' }
  /** Another node resolved the hold, and that outcome stands. */
  | {
      readonly kind: 'superseded'
      readonly outcome: Resolution['outcome']
      readonly billedNanoBrl: NanoBrl
    }
  /** Neither the hold nor an event exists: the database lost the hold in a crash. Nothing is charged. */
  | { readonly kind: 'missing' }
  /** Stored neither in the database nor on the disk: it charges nothing, and nothing may be delivered. */
  | { readonly kind: 'unavailable' }

/** Parses `done`, or a word of the SQL function `resolve_again`. */
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

/** Releases the hold: the customer owes nothing. */
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
