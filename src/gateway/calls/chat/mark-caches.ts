/**
 * Marks what the next turn of a conversation repeats, for upstreams that cache only what a client marks: the tools with
 * the system text, and all up to the last words of the user or results of tools. Clients that speak other formats than
 * Messages have no marks of their own.
 */
import { isObject } from '../../../platform/lib/is-object.ts'
import type { JsonObject } from '../../providers/contract.ts'
import type { ChatRequest } from './chat-request.ts'
import { CACHED_FROM_BYTES } from './conversation-of.ts'

const MARK = { cache_control: { type: 'ephemeral' } }
const TURNS: ReadonlySet<unknown> = new Set(['user', 'tool'])
/** The blocks of Messages that take a mark, of those that may end a turn of the user. */
const BLOCKS: ReadonlySet<unknown> = new Set(['text', 'image', 'document', 'tool_result'])

/**
 * Returns the request with its marks, before anything is measured. One with marks of its client's own stays as it is, and
 * so does a short one.
 */
export function markCaches<Request extends ChatRequest>(request: Request): Request {
  if (request.hasCacheControl || request.bytes < CACHED_FROM_BYTES) return request
  const { native } = request
  const messages = markedMessages(request.messages)
  const body = { ...request.body, messages }
  return {
    ...request,
    messages,
    body: request.messages[0]?.role === 'system' ? body : withMarkedTools(body),
    ...(native?.format === 'messages'
      ? { native: { ...native, body: markedNative(native.body) } }
      : {}),
    hasCacheControl: true,
  }
}

function markedMessages(messages: readonly JsonObject[]): JsonObject[] {
  const first = messages.findIndex(({ role }) => role !== 'system')
  const system = first === -1 ? messages.length - 1 : first - 1
  const turn = messages.findLastIndex(({ role }) => TURNS.has(role))
  return messages.map((message, index) =>
    index === system || index === turn
      ? { ...message, content: withMark(message.content, PART_TYPES) }
      : message,
  )
}

const PART_TYPES: ReadonlySet<unknown> = new Set(['text', 'image_url', 'file'])

function markedNative(body: JsonObject): JsonObject {
  const { system, messages } = body
  const hasSystem = Array.isArray(system)
    ? system.length > 0
    : typeof system === 'string' && system !== ''
  const marked = {
    ...body,
    ...(hasSystem ? { system: withMark(system, BLOCKS) } : {}),
    ...(Array.isArray(messages) ? { messages: withMarkedTurn(messages) } : {}),
  }
  return hasSystem ? marked : withMarkedTools(marked)
}

function withMarkedTurn(messages: readonly unknown[]): unknown[] {
  const turn = messages.findLastIndex((message) => isObject(message) && message.role === 'user')
  return messages.map((message, index) =>
    index === turn && isObject(message)
      ? { ...message, content: withMark(message.content, BLOCKS) }
      : message,
  )
}

function withMarkedTools(body: JsonObject): JsonObject {
  const { tools } = body
  if (!Array.isArray(tools)) return body
  // A tool that is looked up later takes no mark.
  const last = tools.findLastIndex((tool) => isObject(tool) && tool.defer_loading !== true)
  return {
    ...body,
    tools: tools.map((tool: unknown, index) =>
      index === last && isObject(tool) ? { ...tool, ...MARK } : tool,
    ),
  }
}

/** Marks the last part of a content; an empty text takes none. */
function withMark(content: unknown, types: ReadonlySet<unknown>): unknown {
  if (typeof content === 'string')
    return content.trim() === '' ? content : [{ type: 'text', text: content, ...MARK }]
  if (!Array.isArray(content)) return content
  const last: unknown = content.at(-1)
  const isEmpty = isObject(last) && last.type === 'text' && String(last.text).trim() === ''
  return isObject(last) && types.has(last.type) && !isEmpty
    ? [...(content.slice(0, -1) as unknown[]), { ...last, ...MARK }]
    : content
}
