import type { Quote } from '../../money/catalog/quote.ts'
import { WEB_SEARCH_UNIT } from '../../money/catalog/web-search.ts'
import type { ReportedUsage } from '../providers/contract.ts'
import { billedUsage } from './billed-usage.ts'
import type { HeldCall } from './call.ts'

/** Why a call is charged by an estimate, for an answer that is complete. */
export type EstimateReason = 'no_usage_reported' | 'impossible_usage_reported'

/** The least that an answer has used, proved by what was delivered of it. */
export type LeastUsage = Partial<Record<keyof ReportedUsage, number>>

/**
 * Returns the report, unless it is below what was delivered, or above what this call can have used. Both are faults of
 * the upstream: the call is charged by an estimate, within the hold. A chat's report above the hold that is possible is
 * charged in full.
 */
export function possibleUsage<Reported extends ReportedUsage>(
  held: HeldCall,
  reported: Reported | undefined,
  least: LeastUsage,
): Reported | undefined {
  if (!reported || !isPossible(held, reported)) return undefined
  const fields = Object.keys(least) as (keyof ReportedUsage)[]
  // The seconds are counted as they are billed, rounded up.
  return fields.every((field) => Math.ceil(reported[field] ?? Infinity) >= (least[field] ?? 0))
    ? reported
    : undefined
}

/** Returns why the call is charged by an estimate and not by this report. */
export function estimateReason(
  held: HeldCall,
  reported: ReportedUsage | undefined,
): EstimateReason {
  return reported && !isPossible(held, reported) ? 'impossible_usage_reported' : 'no_usage_reported'
}

/** A search that was asked for may be several at the provider. */
const SEARCHES_FOR_ONE = 4

/**
 * A chat may use the model's window for each choice: an upstream may add to the prompt, and write on beyond the limit
 * that it was sent. All else is made of what we sent, and uses at most what the hold covers: so many seconds of this
 * file, so many tokens of these texts, so many of each picture. Tokens without a price are no matter.
 */
function isPossible({ model, quote }: HeldCall, reported: ReportedUsage): boolean {
  const { promptTokensMax, outputTokensMax, choices, unitsMax = {}, price } = quote
  const { promptTokens, completionTokens, webSearches = 0 } = reported
  if (webSearches > (unitsMax[WEB_SEARCH_UNIT] ?? 0) * SEARCHES_FOR_ONE) return false
  if (model.category === 'llm') {
    const window = model.contextTokens * choices
    return promptTokens <= Math.max(window, promptTokensMax) && completionTokens <= window
  }
  const { units = {} } = billedUsage(model, price, reported)
  const promptHeld = promptTokensMax + (unitsMax.input_audio_tokens ?? 0)
  const outputHeld = outputTokensMax * choices + (unitsMax.output_image_tokens ?? 0)
  return (
    (promptTokens <= promptHeld || !isPriced(quote, 'input')) &&
    (completionTokens <= outputHeld || !isPriced(quote, 'output')) &&
    Object.entries(units).every(([unit, count]) => count <= (unitsMax[unit] ?? 0))
  )
}

function isPriced({ prices }: Quote, side: 'input' | 'output'): boolean {
  return prices.some(({ tiers }) => tiers.some((tier) => tier[side] > 0n))
}
