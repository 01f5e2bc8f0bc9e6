import type { Answer } from './compose-answer.ts'
import type { ChatRequest } from './read-chat-request.ts'
import type { SandboxModel } from './sandbox-models.ts'

/** The `usage` object of the answer. */
export interface Usage {
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly total_tokens: number
  readonly prompt_tokens_details: { cached_tokens: number; audio_tokens: number }
  readonly completion_tokens_details: {
    reasoning_tokens: number
    audio_tokens: number
    accepted_prediction_tokens: number
    rejected_prediction_tokens: number
  }
}

/** The usage that the model reports, which some models falsify; undefined if it reports none. */
export function describeUsage(
  answer: Answer,
  request: ChatRequest,
  model: SandboxModel,
): Usage | undefined {
  if (model.usage === 'none') return undefined
  const { promptTokens } = answer
  const completionTokens =
    model.usage === 'overrun'
      ? (request.outputTokensMax ?? answer.completionTokens) * 10 + 1000
      : answer.completionTokens
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: {
      cached_tokens: model.usage === 'half_cached' ? Math.floor(promptTokens / 2) : 0,
      audio_tokens: 0,
    },
    completion_tokens_details: {
      reasoning_tokens: answer.reasoningTokens,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  }
}
