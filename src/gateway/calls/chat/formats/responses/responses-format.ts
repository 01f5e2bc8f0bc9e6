/**
 * The format of OpenAI's Responses. Its requests are translated to the chat-completions shape, so that every model of
 * the catalog answers them; an upstream that speaks this format gets the body that the client wrote, and its answer
 * comes back as it is. Nothing is stored here (`stored-responses-format.ts`).
 */
import type { JsonObject } from '../../../../providers/contract.ts'
import { isAbsent } from '../../../field-faults.ts'
import { isRefusal, refusals, type Refusal } from '../../../refusal.ts'
import { readJsonBody } from '../../../read-json-body.ts'
import type { ChatCaller, ChatWriter, WholeChatFormat } from '../../chat-format.ts'
import { readChatRequest, type ChatRequest } from '../../chat-request.ts'
import type { ToolCallIds } from '../../tool-call-ids.ts'
import { InvalidField } from '../invalid-field.ts'
import { toNativeBody } from './native-body.ts'
import {
  createNativeResponseStream,
  nativeResponse,
  type NativeResponseStream,
} from './native-response.ts'
import type { ReasoningSeal, ReasoningSeals, SealReasoning } from './reasoning-seal.ts'
import { repeatedOf, writeRepeated, type EndedResponse, type Repeated } from './response-head.ts'
import { idTailOf, responseIdOf } from './response-ids.ts'
import { createResponseStream, type ResponseStream } from './response-stream.ts'
import { mustSearch, searchesAsked } from './searches-asked.ts'
import { toChatBody } from './to-chat-body.ts'
import type { ClientTools } from './tool-names.ts'
import { wholeResponse } from './whole-response.ts'

/** A chat with the parts of its request that only its response needs. */
export interface ResponsesRequest extends ChatRequest {
  readonly clientTools: ClientTools
  /** The customer's seal. */
  readonly reasoning: ReasoningSeal
  readonly repeated: Repeated
  /** Set if the response is to be stored. */
  readonly kept?: KeptInput
}

/** The part of a request that is stored with its response. */
export interface KeptInput {
  readonly owner: { readonly customerId: string; readonly keyId: string }
  /** The items of this request alone, as the client wrote them. */
  readonly input: readonly unknown[]
  readonly previousId: string | null
}

export interface ResponsesFormat extends WholeChatFormat<ResponsesRequest> {
  /** Reads a parsed body. `bytes` is its size; `itemsBefore` of its input are stored ones. */
  readBody(
    body: JsonObject,
    bytes: number,
    caller: Pick<ChatCaller, 'customerId'>,
    itemsBefore?: number,
  ): ResponsesRequest | Refusal
  /** `onEnd` may be called more than once; the last response counts. */
  createWriter(
    call: { id: string; modelId: string; request: ResponsesRequest },
    onEnd?: (ended: EndedResponse) => void,
  ): ChatWriter
}

export function createResponsesFormat(
  reasoningSeals: ReasoningSeals,
  ids: ToolCallIds,
): ResponsesFormat {
  function readBody(
    body: JsonObject,
    bytes: number,
    { customerId }: Pick<ChatCaller, 'customerId'>,
    itemsBefore = 0,
  ): ResponsesRequest | Refusal {
    const reasoning = reasoningSeals(customerId)
    const request = readResponsesRequest(body, bytes, reasoning, itemsBefore)
    if (isRefusal(request)) return request
    // Before anything is measured: the hold is for the ids that an upstream gets.
    ids.reveal(request.messages)
    const native = toNativeBody(body, ids, (sealed) => reasoning.isOwn(sealed))
    const searches = {
      webSearches: searchesAsked(body),
      mustSearch: mustSearch(body),
    }
    return { ...request, native: { format: 'responses', body: native, flags: [], ...searches } }
  }

  return {
    readBody,
    readRequest(raw, caller) {
      const body = readJsonBody(raw)
      return isRefusal(body) ? body : readBody(body, raw.length, caller)
    },
    createWriter({ id, modelId, request }, onEnd) {
      const { clientTools, repeated, reasoning } = request
      const idTail = idTailOf(id)
      const createdAt = Math.floor(Date.now() / 1000)
      const repeatedText = writeRepeated(repeated)
      const head = { id: responseIdOf(idTail), createdAt, modelId, repeatedText, onEnd }
      const models = [modelId, request.modelId]
      const seal: SealReasoning = (kept) => reasoning.seal(kept, models)
      const options = { idTail, tools: clientTools, seal, ids }
      // Created with the first chunk, because a plain answer needs neither.
      let written: ResponseStream | undefined
      let native: NativeResponseStream | undefined
      const stream = (): ResponseStream => (written ??= createResponseStream(head, options))
      return {
        answer: (body, charged, answer) =>
          answer
            ? nativeResponse(head, options, answer, charged)
            : wholeResponse(head, options, body, charged),
        chunk: (body, events) =>
          events
            ? (native ??= createNativeResponseStream(head, options)).chunk(events)
            : stream().chunk(body),
        delta: (delta) =>
          native ? native.delta(delta) : (stream().chunk(delta.like.bodyWith(delta.text)) ?? ''),
        end: (charged) => (native ?? stream()).end(charged),
        broken: (refused) => (native ?? stream()).broken(refused),
      }
    },
  }
}

/** `bytes` is the size of the body as it was received. */
export function readResponsesRequest(
  body: JsonObject,
  bytes: number,
  reasoning: ReasoningSeal,
  itemsBefore = 0,
): ResponsesRequest | Refusal {
  if (!isAbsent(body.previous_response_id)) return refusals.responsesNotStored()
  try {
    const { body: chat, tools } = toChatBody(body, reasoning, itemsBefore)
    const request = readChatRequest(chat, bytes)
    if (isRefusal(request)) return request
    const { clientTools, kept } = tools
    return { ...request, clientTools, reasoning, repeated: repeatedOf(body, kept) }
  } catch (error) {
    if (error instanceof InvalidField) return refusals.invalidRequest(error.message)
    throw error
  }
}
