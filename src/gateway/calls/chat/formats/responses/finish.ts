/** How a response ended. */
export interface Finish {
  readonly status: 'completed' | 'incomplete'
  readonly incompleteReason?: 'max_output_tokens' | 'content_filter'
}

/** Reads a finish reason of chat-completions. */
export function readFinish(reason: unknown): Finish {
  if (reason === 'length') return { status: 'incomplete', incompleteReason: 'max_output_tokens' }
  if (reason === 'content_filter') return { status: 'incomplete', incompleteReason: reason }
  return { status: 'completed' }
}
