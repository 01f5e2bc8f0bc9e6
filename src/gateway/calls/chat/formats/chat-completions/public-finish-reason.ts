const KNOWN: ReadonlySet<unknown> = new Set([
  'stop',
  'length',
  'tool_calls',
  'content_filter',
  'function_call',
])

/** Returns the finish reason as the format has it: an upstream's own words may name it. Null while a choice goes on. */
export function publicFinishReason(reason: unknown): unknown {
  if (KNOWN.has(reason)) return reason
  return reason ? 'stop' : null
}
