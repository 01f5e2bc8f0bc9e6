/**
 * The format of Anthropic's Messages. Its requests are translated to the chat-completions shape, so that every model of
 * the catalog answers them; an upstream that speaks this format gets the body that the client wrote, and its answer
 * comes back as it is.
 */
import type { JsonObject } from '../../../../providers/contract.ts'
import { isRefusal, refusals, type Refusal } from '../../../refusal.ts'
import { readJsonBody } from '../../../read-json-body.ts'
import type { WholeChatFormat } from '../../chat-format.ts'
import { readChatRequest, type ChatRequest } from '../../chat-request.ts'
import type { ToolCallIds } from '../../tool-call-ids.ts'
import { InvalidField } from '../invalid-field.ts'
import type { ReasoningSeal, ReasoningSeals, SealReasoning } from '../responses/reasoning-seal.ts'
import { createMessageStream, type MessageStream } from './message-stream.ts'
import { messagesErrorBody } from './messages-error-body.ts'
import {
  createNativeMessageStream,
  nativeMessage,
  type NativeMessageStream,
} from './native-message.ts'
import { cachesAsked, mustSearch, revealBlocks, searchesAsked } from './read-native.ts'
import { createOpenThinking, withoutSealed } from './sealed-thinking.ts'
import { toChatBody } from './to-chat-body.ts'
import { wholeMessage } from './whole-message.ts'

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

/** The requests for counts of tokens: they have no output, and so need no limit of it. */
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
