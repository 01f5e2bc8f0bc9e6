import { TypeValidationError } from '@ai-sdk/provider'
import { isObject } from '../../../platform/lib/is-object.ts'

/** The events that packages know of streams whose events have a type: Anthropic's, and Cohere's with hyphens. */
const KNOWN: ReadonlySet<string> = new Set([
  'message_start',
  'content_block_start',
  'content_block_delta',
  'content_block_stop',
  'message_delta',
  'message_stop',
  'ping',
  'error',
  'message-start',
  'content-start',
  'content-delta',
  'content-end',
  'tool-plan-delta',
  'tool-call-start',
  'tool-call-delta',
  'tool-call-end',
  'citation-start',
  'citation-end',
  'message-end',
])

/** The events of parts of an answer, which have types of their own. */
const PARTS: ReadonlySet<string> = new Set(['content_block_start', 'content_block_delta'])

/**
 * Whether a package failed on an event of a type that its format has gained since, or on a new kind of block or delta.
 * Anthropic says that clients must ignore them; the package goes on after the error.
 */
export function isNewEvent(error: unknown): boolean {
  if (!TypeValidationError.isInstance(error) || !isObject(error.value)) return false
  const { type } = error.value
  return typeof type === 'string' && (!KNOWN.has(type) || PARTS.has(type))
}
