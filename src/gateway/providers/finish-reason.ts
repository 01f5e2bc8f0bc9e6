/**
 * The finish reasons of providers as the published ones. A provider has reasons of its own for an answer that was cut or
 * that failed, and gains new ones; read as `stop`, a client would take half an answer for a whole one.
 */
export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'function_call' | 'content_filter'

const PUBLISHED: ReadonlySet<string> = new Set([
  'stop',
  'length',
  'tool_calls',
  'function_call',
  'content_filter',
])

/** In this order: `TOO_MANY_TOOL_CALLS` is a failure, not the end of a turn with tools. */
const BY_WORD: readonly (readonly [RegExp, FinishReason | 'failed'])[] = [
  [
    /error|fail|malform|unexpected|missing|too_?many|invalid|insufficient|timeout|time_limit|abort|cancel|interrupt|unavailable|overload|network|no_image|^(?:image_)?other$/i,
    'failed',
  ],
  [/length|max_?(?:output_?)?tokens?|token_?limit|context/i, 'length'],
  [
    /filter|safety|sensitive|refus|block|prohibit|policy|moderat|guardrail|recitation|spii|language/i,
    'content_filter',
  ],
  [/tool|function/i, 'tool_calls'],
]

/**
 * Returns the finish reason, or `failed` if the provider says that the model did not come to an end of its answer by
 * itself.
 */
export function readFinishReason(reason: string): FinishReason | 'failed' {
  if (PUBLISHED.has(reason)) return reason as FinishReason
  return BY_WORD.find(([words]) => words.test(reason))?.[1] ?? 'stop'
}
