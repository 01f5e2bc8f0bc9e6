import type { LanguageModelV4FinishReason } from '@ai-sdk/provider'
import { isObject } from '../../../platform/lib/is-object.ts'
import type { UpstreamFailure } from '../contract.ts'
import { withErrorWords } from '../error-words.ts'
import { readFinishReason, type FinishReason } from '../parse-answer.ts'

/**
 * Returns the `finish_reason` of an answer, or a failure. Without the upstream's own (raw) reason the answer is
 * incomplete: the packages invent a reason if the connection just closed.
 */
export function toFinishReason({
  unified,
  raw,
}: LanguageModelV4FinishReason): FinishReason | UpstreamFailure {
  if (raw === undefined || unified === 'interrupted') {
    return failure('connection_lost', 'the answer ended without a finish reason')
  }
  // The packages report what they do not know as `other`.
  const finish = unified === 'other' ? readFinishReason(raw) : OF_PACKAGES[unified]
  return finish === 'failed'
    ? failure('bad_answer', withErrorWords('the model failed', raw))
    : finish
}

const OF_PACKAGES = {
  stop: 'stop',
  length: 'length',
  'tool-calls': 'tool_calls',
  'content-filter': 'content_filter',
  error: 'failed',
} as const

/** Returns the upstream's explanation of a refusal; undefined if it gives none. */
export function refusalText(
  metadata: { readonly anthropic?: unknown } | undefined,
): string | undefined {
  const own = isObject(metadata?.anthropic) ? metadata.anthropic.stopDetails : undefined
  return isObject(own) && typeof own.explanation === 'string' ? own.explanation : undefined
}

function failure(reason: 'connection_lost' | 'bad_answer', detail: string): UpstreamFailure {
  return { kind: 'failure', reason, detail }
}
