import type { IncomingHttpHeaders } from 'node:http'
import { isUuid } from '../../platform/lib/ids.ts'

/**
 * The usage session of a call: by our own header, or else by the one in which Claude Code names its conversation. Only
 * ours is refused if it is invalid; an empty one is none.
 */
export function sessionIdOf({
  'x-svc-session-id': own,
  'x-claude-code-session-id': ofClaudeCode,
}: IncomingHttpHeaders): string | undefined {
  if (own !== undefined && own !== '') return Array.isArray(own) ? own.join() : own
  return typeof ofClaudeCode === 'string' && isUuid(ofClaudeCode) ? ofClaudeCode : undefined
}
