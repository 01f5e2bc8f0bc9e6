import type { LanguageModelV4FinishReason } from '@ai-sdk/provider'
import { isObject } from '../../lib/is-object.ts'
import type { UpstreamFailure } from '../contract.ts'

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter'

/**
 * The `finish_reason` of an answer, or why it is none. Without the upstream's own word for its end the
 * answer did not end: the packages make up a reason where the connection just closed.
 */
export function toFinishReason({
  unified,
  raw,
}: LanguageModelV4FinishReason): FinishReason | UpstreamFailure {
  if (raw === undefined || unified === 'interrupted') {
    return failure('connection_lost', 'the answer ended before its end')
  }
  switch (unified) {
    case 'error':
      return failure('bad_answer', `the model failed: ${raw.slice(0, 100)}`)
    case 'length':
      return 'length'
    case 'tool-calls':
      return 'tool_calls'
    case 'content-filter':
      return 'content_filter'
    case 'stop':
    case 'other':
      return 'stop'
  }
}

/** What the upstream says of its refusal; undefined where it says nothing. */
export function refusalText(
  metadata: { readonly anthropic?: unknown } | undefined,
): string | undefined {
  const own = isObject(metadata?.anthropic) ? metadata.anthropic.stopDetails : undefined
  return isObject(own) && typeof own.explanation === 'string' ? own.explanation : undefined
}

function failure(reason: 'connection_lost' | 'bad_answer', detail: string): UpstreamFailure {
  return { kind: 'failure', reason, detail }
}
