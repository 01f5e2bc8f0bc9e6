/** From what was used to how a held call ends. Pure, but for the tokenizer that counts what nobody told. */
import { outputTokensTypical } from '../catalog/prompt-size.ts'
import { costOf, type Price, type TokenCounts } from '../catalog/prices.ts'
import { release, type Resolution, type UsageKind } from '../ledger/resolution.ts'
import { billedPicoUsd, chargeFor, type Conversion } from '../lib/money.ts'
import { countTokens, promptTexts } from './count-tokens.ts'
import type { HeldCall } from './hold-money.ts'

export interface Used {
  readonly tokens: TokenCounts
  readonly kind: UsageKind & ('exact' | 'estimated')
  /** Why it is an estimate; null for what the upstream reported. */
  readonly reason: string | null
}

export interface CallTimes {
  readonly upstreamId: string | null
  readonly firstByteMs: number | null
  readonly durationMs: number | null
}

/** The charge for these tokens by the price, rate and markup of the hold. */
export function charge(
  hold: { id: string; customerId: string; price: Price; conversion: Conversion },
  used: Used,
  times: CallTimes,
): Resolution {
  const cost = costOf(hold.price, used.tokens)
  return {
    id: hold.id,
    customerId: hold.customerId,
    outcome: 'charged',
    reason: used.reason,
    upstreamId: times.upstreamId,
    usageKind: used.kind,
    ...used.tokens,
    costPicoUsd: cost,
    billedNanoBrl: chargeFor(cost, hold.conversion),
    billedPicoUsd: billedPicoUsd(cost, hold.conversion.markupE4),
    firstByteMs: times.firstByteMs,
    durationMs: times.durationMs,
  }
}

export function chargeHeldCall(held: HeldCall, used: Used, times: CallTimes): Resolution {
  const { price, conversion } = held.quote
  return charge(
    { id: held.holdId, customerId: held.key.customerId, price, conversion },
    used,
    times,
  )
}

/** Nothing that the customer is to pay for came of it; `times` where the call was dispatched. */
export function releaseHeldCall(held: HeldCall, reason: string, times?: CallTimes): Resolution {
  return { ...release({ id: held.holdId, customerId: held.key.customerId }, reason), ...times }
}

/** Tokens that only we counted, never more than the hold was made for. */
export function estimated(
  bounds: { promptTokensMax: number; outputTokensMax: number },
  counts: { promptTokens: number; completionTokens: number },
  reason: string,
): Used {
  return {
    kind: 'estimated',
    reason,
    tokens: {
      promptTokens: Math.min(counts.promptTokens, bounds.promptTokensMax),
      cachedTokens: 0,
      cacheWriteTokens: 0,
      completionTokens: Math.min(counts.completionTokens, bounds.outputTokensMax),
      reasoningTokens: 0,
    },
  }
}

/** Counts what an upstream that answered did not report, or a stream that broke off had delivered. */
export async function estimateUsed(
  held: HeldCall,
  output: string[] | number,
  reason: string,
): Promise<Used> {
  const { promptTokensMax, outputTokensMax, choices } = held.quote
  const counted = await countTokens(promptTexts(held.request.messages))
  // Images and tools are not texts; where there are some, the typical size counts them.
  const isAllText =
    held.request.imageCount === 0 && !held.request.hasFiles && !held.request.hasTools
  const promptTokens =
    counted !== undefined && isAllText
      ? counted + 4 * held.request.messages.length
      : held.promptTokensEstimated
  const completionTokens = typeof output === 'number' ? output : await countOutput(output)
  return estimated(
    { promptTokensMax, outputTokensMax: outputTokensMax * choices },
    { promptTokens, completionTokens },
    reason,
  )
}

async function countOutput(texts: string[]): Promise<number> {
  const counted = await countTokens(texts)
  return (
    counted ?? outputTokensTypical(texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0))
  )
}
