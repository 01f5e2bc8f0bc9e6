import { WEB_SEARCH_UNIT } from '../catalog/web-search.ts'
import type { ReportedUsage } from '../providers/contract.ts'
import type { HeldCall } from './call.ts'

/** Why a call is charged by an estimate, for an answer that is complete. */
export type EstimateReason = 'no_usage_reported' | 'impossible_usage_reported'

/**
 * The report, unless no call can have used so much: at most the model's window for each choice, or all that the hold
 * covers, if that is more (many texts in one request); at most the seconds of the longest file that the model takes; and
 * at most a few times as many searches as were allowed.
 * A larger report is a fault of the upstream, so the call is charged by an estimate, within the hold. A report above the
 * hold that is possible is charged in full.
 */
export function possibleUsage<Reported extends ReportedUsage>(
  held: HeldCall,
  reported: Reported | undefined,
): Reported | undefined {
  return reported && isPossible(held, reported) ? reported : undefined
}

/** The reason of an estimate in place of this report. */
export function estimateReason(
  held: HeldCall,
  reported: ReportedUsage | undefined,
): EstimateReason {
  return reported && !isPossible(held, reported) ? 'impossible_usage_reported' : 'no_usage_reported'
}

/** A search that was asked for may be several at the provider. */
const SEARCHES_FOR_ONE = 4

function isPossible({ model, quote }: HeldCall, reported: ReportedUsage): boolean {
  const { promptTokensMax, outputTokensMax, choices, unitsMax = {} } = quote
  const units = Object.values(unitsMax).reduce((sum, count) => sum + count, 0)
  const tokensHeld = promptTokensMax + outputTokensMax * choices + units
  const tokensMax = Math.max(model.contextTokens * choices, tokensHeld)
  return (
    reported.promptTokens <= tokensMax &&
    reported.completionTokens <= tokensMax &&
    Math.floor(reported.audioSeconds ?? 0) <= (model.audio?.secondsMax ?? Infinity) &&
    (reported.webSearches ?? 0) <= (unitsMax[WEB_SEARCH_UNIT] ?? 0) * SEARCHES_FOR_ONE
  )
}
