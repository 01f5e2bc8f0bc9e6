import type { LanguageModelV4FinishReason } from '@ai-sdk/provider'
import { isObject } from '../../lib/is-object.ts'
import type { UpstreamFailure } from '../contract.ts'
import { withErrorWords } from '../error-words.ts'

export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter'

/** Finish reasons that the packages do not know and report as `other`. */
const UNKNOWN_TO_PACKAGES: ReadonlyMap<string, FinishReason | 'error'> = new Map([
  ['model_context_window_exceeded', 'length'],
  ['malformed_model_output', 'error'],
  ['malformed_tool_use', 'error'],
  ['MALFORMED_RESPONSE', 'error'],
  ['UNEXPECTED_TOOL_CALL', 'error'],
  ['IMAGE_PROHIBITED_CONTENT', 'content_filter'],
  ['IMAGE_RECITATION', 'content_filter'],
  ['TIMEOUT', 'error'],
])

/**
 * The `finish_reason` of an answer, or a failure. Without the upstream's own (raw) reason the answer is incomplete: the
 * packages invent a reason if the connection just closed.
 */
export function toFinishReason({
  unified,
  raw,
}: LanguageModelV4FinishReason): FinishReason | UpstreamFailure {
  if (raw === undefined || unified === 'interrupted') {
    return failure('connection_lost', 'the answer ended without a finish reason')
  }
  const known = unified === 'other' ? UNKNOWN_TO_PACKAGES.get(raw) : undefined
  if (unified === 'error' || known === 'error') {
    return failure('bad_answer', withErrorWords('the model failed', raw))
  }
  if (known !== undefined) return known
  switch (unified) {
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

/** The upstream's explanation of a refusal; undefined if it gives none. */
export function refusalText(
  metadata: { readonly anthropic?: unknown } | undefined,
): string | undefined {
  const own = isObject(metadata?.anthropic) ? metadata.anthropic.stopDetails : undefined
  return isObject(own) && typeof own.explanation === 'string' ? own.explanation : undefined
}

function failure(reason: 'connection_lost' | 'bad_answer', detail: string): UpstreamFailure {
  return { kind: 'failure', reason, detail }
}
