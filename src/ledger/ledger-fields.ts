/** What the ledger's statements are given, in the order in which their types and functions have it. */
import type { CompositeField } from '../db/composite-text.ts'
import type { Attempt } from './attempt.ts'
import type { ResolutionRow } from './resolution.ts'

/** The subjects of rate windows. Those of addresses sort, and so are locked, before those of keys. */
export function ipWindow(ip: string): string {
  return `i:${ip}`
}

export function keyWindow(keyId: string): string {
  return `k:${keyId}`
}

/** Of an attempt, those that come before its rate limits. */
export function callerFields({ id, isRepeated, customerId, key }: Attempt): CompositeField[] {
  return [id, isRepeated, customerId, key.id, key.version]
}

/** How many `callFields` are. */
export const CALL_FIELDS = 13

/** Of an attempt, those that follow its rate limits. */
export function callFields(attempt: Attempt): CompositeField[] {
  return [
    attempt.key.tokensPerMinute,
    attempt.requestId,
    attempt.sessionId,
    attempt.modelId,
    attempt.isStream,
    attempt.amountNanoBrl,
    attempt.budgetPicoUsd,
    attempt.priceId,
    attempt.fxRateId,
    attempt.fxRateE4,
    attempt.markupE4,
    attempt.promptTokensEstimated,
    attempt.tokensCounted,
  ]
}

export function resolutionFields(row: ResolutionRow): CompositeField[] {
  return [
    row.id,
    row.outcome,
    row.reason,
    row.upstream_id,
    row.usage_kind,
    row.prompt_tokens,
    row.cached_tokens,
    row.cache_write_tokens,
    row.completion_tokens,
    row.reasoning_tokens,
    row.cost_pico_usd,
    row.billed_nano_brl,
    row.billed_pico_usd,
    row.first_byte_ms,
    row.duration_ms,
    row.answered_price_id,
    row.units,
    row.attempts,
    row.customer_id,
    row.is_final,
  ]
}
