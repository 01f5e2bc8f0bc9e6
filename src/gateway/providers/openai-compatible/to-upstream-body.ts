/** What upstreams of the chat-completions format name or spell otherwise than OpenAI, in the messages and the effort. */
import { createHash } from 'node:crypto'
import { isObject } from '../../../platform/lib/is-object.ts'
import type { JsonObject } from '../contract.ts'

export interface Dialect {
  /** The upstream takes instructions of the role `developer`; others know `system` alone. */
  readonly knowsDeveloper: boolean
  /** The upstream takes ids of tool calls of nine letters and digits only, as Mistral does. */
  readonly hasShortCallIds: boolean
}

/** The same object where nothing is written otherwise. */
export function toUpstreamBody(body: JsonObject, model: string, dialect: Dialect): JsonObject {
  const messages = toMessages(body.messages, dialect)
  const effort = toEffort(body.reasoning_effort, model)
  return messages === body.messages && effort === body.reasoning_effort
    ? body
    : { ...body, messages, reasoning_effort: effort }
}

function toMessages(messages: unknown, { knowsDeveloper, hasShortCallIds }: Dialect): unknown {
  if (!Array.isArray(messages)) return messages
  let isChanged = false
  const written = messages.map((message: unknown) => {
    if (!isObject(message)) return message
    let changed = message
    if (!knowsDeveloper && message.role === 'developer') changed = { ...changed, role: 'system' }
    if (hasShortCallIds) changed = withShortIds(changed)
    isChanged ||= changed !== message
    return changed
  })
  return isChanged ? written : messages
}

function withShortIds(message: JsonObject): JsonObject {
  if (typeof message.tool_call_id === 'string')
    return { ...message, tool_call_id: toShortId(message.tool_call_id) }
  if (!Array.isArray(message.tool_calls)) return message
  const calls = message.tool_calls.map((call: unknown) =>
    isObject(call) && typeof call.id === 'string' ? { ...call, id: toShortId(call.id) } : call,
  )
  return { ...message, tool_calls: calls }
}

const SHORT_ID = /^[A-Za-z0-9]{9}$/

/** The same for a call and its result, and in each turn of a conversation. */
function toShortId(id: string): string {
  return SHORT_ID.test(id) ? id : createHash('sha256').update(id).digest('hex').slice(0, 9)
}

/** Models that reason always, and refuse the effort `none`. */
const REASONS_ALWAYS = /(?:^|\/)(?:o\d|gpt-5(?![.\d])|gpt-oss|grok)/
const KNOWS_XHIGH = /(?:^|\/)gpt-(?:5\.[2-9]|[6-9])/

/** The nearest effort that the model takes: it would refuse the whole request for another. */
function toEffort(effort: unknown, model: string): unknown {
  if (effort === 'none' && REASONS_ALWAYS.test(model)) return 'low'
  if (effort === 'max') return KNOWS_XHIGH.test(model) ? 'xhigh' : 'high'
  return effort
}
