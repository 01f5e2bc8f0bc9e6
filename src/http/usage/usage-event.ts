import Type from 'typebox'
import { toMilliseconds } from '../../platform/db/exact-time.ts'
import { jsonBrl, jsonE4, jsonUsd } from '../../platform/lib/money.ts'
import type { UsageEvent } from '../../money/usage/usage-event.ts'
import type { AnswerOf } from '../rest/answer-of.ts'
import { answer, brl, date, dateTime, nullable, usd, uuid } from '../rest/values.ts'

/** Negative for the reversal of a charge. */
const signedCount = Type.Integer()

/** The schema of a charge, shared by every list. */
export const usageEvent = answer({
  id: uuid,
  request_id: uuid,
  model_id: Type.String(),
  api_key_id: nullable(uuid),
  api_key_name: nullable(Type.String()),
  team_id: nullable(uuid),
  session_id: nullable(Type.String()),
  prompt_tokens: nullable(signedCount),
  cached_tokens: nullable(signedCount),
  cache_write_tokens: nullable(signedCount),
  completion_tokens: nullable(signedCount),
  reasoning_tokens: nullable(signedCount),
  units: nullable(Type.Record(Type.String(), signedCount)),
  usage_kind: Type.Enum(['exact', 'estimated', 'none']),
  cost_billed_brl: brl,
  cost_upstream_usd: usd,
  fx_rate: Type.Number(),
  fx_rate_date: date,
  fx_rate_source: Type.String(),
  markup_multiplier: Type.Number(),
  corrects_id: nullable(
    Type.String({
      format: 'uuid',
      maxLength: 36,
      description:
        'A cobrança que este lançamento corrige. O estorno dela tem tokens e valores negativos; o lançamento com o valor certo vem ao lado.',
    }),
  ),
  created_at: dateTime,
})

export function usageEventBody(event: UsageEvent): AnswerOf<typeof usageEvent> {
  return {
    id: event.id,
    request_id: event.requestId,
    model_id: event.modelId,
    api_key_id: event.apiKeyId,
    api_key_name: event.apiKeyName,
    team_id: event.teamId,
    session_id: event.sessionId,
    prompt_tokens: event.promptTokens,
    cached_tokens: event.cachedTokens,
    cache_write_tokens: event.cacheWriteTokens,
    completion_tokens: event.completionTokens,
    reasoning_tokens: event.reasoningTokens,
    units: event.units,
    usage_kind: event.usageKind,
    cost_billed_brl: jsonBrl(event.costBilledNanoBrl),
    cost_upstream_usd: jsonUsd(event.costUpstreamPicoUsd),
    fx_rate: jsonE4(event.fxRateE4),
    fx_rate_date: event.fxRateDate,
    fx_rate_source: event.fxSource,
    markup_multiplier: jsonE4(event.markupE4),
    corrects_id: event.correctsId,
    created_at: toMilliseconds(event.createdAt),
  }
}
