/**
 * The format of Anthropic's Messages. Its requests are translated to the chat-completions shape, so that every model of
 * the catalog answers them; an upstream that speaks this format gets the body that the client wrote, and its answer
 * comes back as it is.
 */
import type { JsonObject } from '../../../../providers/contract.ts'
import { isRefusal, refusals, type Refusal } from '../../../refusal.ts'
import { readJsonBody } from '../../../read-request.ts'
import type { WholeChatFormat } from '../../chat-format.ts'
import { readChatRequest, type ChatRequest } from '../../chat-request.ts'
import type { ToolCallIds } from '../../tool-call-ids.ts'
import { InvalidField } from '../fields.ts'
import { presetInMessages } from '../presets.ts'
import type { ReasoningSeal, ReasoningSeals, SealReasoning } from '../responses/reasoning-seal.ts'
import { createMessageStream, type MessageStream } from './message-stream.ts'
import {
  createNativeMessageStream,
  nativeMessage,
  type NativeMessageStream,
} from './native-message.ts'
import { createOpenThinking, withoutSealed } from './sealed-thinking.ts'
import { toChatBody } from './to-chat-body.ts'
import { wholeMessage } from './whole-message.ts'
import { webSearchesAsked } from '../../../../../money/catalog/web-search.ts'
import { isObject } from '../../../../../platform/lib/is-object.ts'
import { isWebSearchTool } from '../../../../providers/client-tools.ts'

const TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
}

/**
 * Writes the JSON body of an error answer in the Messages format, whose `type` clients read. Our own `code` is added,
 * because several codes share a type. The request id is also in the header `x-request-id`.
 */
export function messagesErrorBody({ status, code, message }: Refusal, requestId?: string): string {
  return JSON.stringify({
    type: 'error',
    error: { type: TYPES[status] ?? 'api_error', message, code },
    ...(requestId === undefined ? {} : { request_id: requestId }),
  })
}

export interface MessagesRequest extends ChatRequest {
  /** The customer's seal. */
  readonly reasoning: ReasoningSeal
}

export function createMessagesFormat(
  ids: ToolCallIds,
  reasoningSeals: ReasoningSeals,
): WholeChatFormat<MessagesRequest> {
  return {
    readRequest: (raw, { customerId }, flags) =>
      readMessagesRequest(ids, reasoningSeals(customerId), raw, flags, {}),
    withPreset: presetInMessages,
    createWriter({ id, modelId, request }) {
      const head = { id: `msg_${id}`, modelId }
      const models = [modelId, request.modelId]
      const seal: SealReasoning = (kept) => request.reasoning.seal(kept, models)
      // Created with the first chunk, because a plain answer needs neither.
      let written: MessageStream | undefined
      let native: NativeMessageStream | undefined
      const stream = (): MessageStream => (written ??= createMessageStream(head, ids, seal))
      return {
        answer: (body, charged, answer) =>
          answer
            ? nativeMessage(head, ids, answer, charged)
            : wholeMessage(head, ids, seal, body, charged),
        chunk: (body, events) =>
          events
            ? (native ??= createNativeMessageStream(head, ids)).chunk(events)
            : stream().chunk(body),
        delta: (delta) =>
          native ? native.delta(delta) : (stream().chunk(delta.like.bodyWith(delta.text)) ?? ''),
        end: (charged) => (native ?? stream()).end(charged),
        broken: (refused) => `event: error\ndata: ${messagesErrorBody(refused)}\n\n`,
      }
    },
  }
}

/** Returns the format of requests for counts of tokens: they have no output, and so need no limit of it. */
export function createMessageTokensFormat(
  ids: ToolCallIds,
  reasoningSeals: ReasoningSeals,
): WholeChatFormat<MessagesRequest> {
  return {
    ...createMessagesFormat(ids, reasoningSeals),
    readRequest: (raw, { customerId }, flags) =>
      readMessagesRequest(ids, reasoningSeals(customerId), raw, flags, { max_tokens: 1 }),
  }
}

function readMessagesRequest(
  ids: ToolCallIds,
  reasoning: ReasoningSeal,
  raw: Buffer,
  flags: readonly string[] | undefined,
  defaults: JsonObject,
): MessagesRequest | Refusal {
  const body = readJsonBody(raw)
  if (isRefusal(body)) return body
  try {
    // Before anything is measured: the hold is for the ids that an upstream gets.
    revealBlocks(body, ids)
    const openThinking = createOpenThinking(reasoning, ids, body.model)
    const chat = toChatBody({ ...defaults, ...body }, openThinking)
    const request = readChatRequest(chat, raw.length)
    if (isRefusal(request)) return request
    const asked = cachesAsked(body)
    return {
      ...request,
      reasoning,
      native: {
        format: 'messages',
        body: withoutSealed(body, reasoning),
        flags: flags ?? [],
        webSearches: searchesAsked(body),
        mustSearch: mustSearch(body),
      },
      hasCacheControl: request.hasCacheControl || asked.hasCacheControl,
      cachesForAnHour: request.cachesForAnHour || asked.cachesForAnHour,
    }
  } catch (error) {
    if (error instanceof InvalidField) return refusals.invalidRequest(error.message)
    throw error
  }
}

/** Restores the ids of tool calls in a body that is not checked yet, in place. */
function revealBlocks(body: JsonObject, ids: Pick<ToolCallIds, 'revealed'>): void {
  for (const message of listOf(body.messages)) {
    for (const block of listOf(message.content)) {
      const { type } = block
      if (type === 'tool_use' || type === 'server_tool_use') block.id = ids.revealed(block.id)
      if (type === 'tool_result' || type === 'web_search_tool_result')
        block.tool_use_id = ids.revealed(block.tool_use_id)
    }
  }
}

/** Whether any part of a body asks for a cache, also one that its translation leaves out, and for one of an hour. */
function cachesAsked(body: JsonObject) {
  const places = [body, ...listOf(body.tools), ...listOf(body.system), ...listOf(body.messages)]
  const controls = places.flatMap(controlsIn)
  return {
    hasCacheControl: controls.length > 0,
    cachesForAnHour: controls.some(({ ttl }) => ttl === '1h'),
  }
}

/** The searches of the web that a request allows; 0 if it lists none, or if its `tool_choice` excludes it. */
function searchesAsked({ tools, tool_choice: choice }: JsonObject): number {
  const search = listOf(tools).find(isWebSearchTool)
  if (!search) return 0
  if (isObject(choice)) {
    const isOther = choice.type === 'tool' && choice.name !== search.name
    if (choice.type === 'none' || isOther) return 0
  }
  return webSearchesAsked(search.max_uses)
}

/** Whether the choice of a tool names the search of the web, or requires a tool where there is no other. */
function mustSearch({ tools, tool_choice: choice }: JsonObject): boolean {
  if (!isObject(choice)) return false
  if (choice.type === 'any') return listOf(tools).length > 0 && listOf(tools).every(isWebSearchTool)
  if (choice.type !== 'tool') return false
  return listOf(tools).some((tool) => isWebSearchTool(tool) && tool.name === choice.name)
}

function controlsIn({ cache_control: control, content, source }: JsonObject): JsonObject[] {
  const inner = [...listOf(content), ...(isObject(source) ? listOf(source.content) : [])]
  return [...(isObject(control) ? [control] : []), ...inner.flatMap(controlsIn)]
}

function listOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}
