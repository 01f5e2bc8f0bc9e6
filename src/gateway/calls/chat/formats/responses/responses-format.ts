/**
 * The format of OpenAI's Responses. Its requests are translated to the chat-completions shape, so that every model of
 * the catalog answers them; an upstream that speaks this format gets the body that the client wrote, and its answer
 * comes back as it is. Nothing is stored here (`stored-responses-format.ts`).
 */
import { idTailOf } from '../../../../../platform/lib/ids.ts'
import type { JsonObject } from '../../../../providers/contract.ts'
import { isAbsent } from '../../../field-faults.ts'
import { isRefusal, refusals, type Refusal } from '../../../refusal.ts'
import { readJsonBody } from '../../../read-request.ts'
import type { ChatCaller, ChatWriter, WholeChatFormat, Charged } from '../../chat-format.ts'
import { readChatRequest, type ChatRequest } from '../../chat-request.ts'
import type { ToolCallIds } from '../../tool-call-ids.ts'
import { InvalidField } from '../fields.ts'
import { readCompaction, type Compaction } from './compaction.ts'
import { presetInResponse } from '../presets.ts'
import {
  createNativeResponseStream,
  nativeResponse,
  type NativeResponseStream,
} from './native-response.ts'
import type { ReasoningSeal, ReasoningSeals, SealReasoning } from './reasoning-seal.ts'
import {
  repeatedOf,
  writeRepeated,
  type EndedResponse,
  type Repeated,
  writeCompaction,
  writeResponse,
  type ResponseHead,
  responseIdOf,
} from './response-head.ts'
import { createResponseStream, type ResponseStream, readFinish } from './response-events.ts'
import { toChatBody } from './to-chat-body.ts'
import { type ClientTools, upstreamNameOf } from './to-chat-tools.ts'
import { isObject } from '../../../../../platform/lib/is-object.ts'
import { createResponseOutput, type OutputOptions } from './response-output.ts'
import { webSearchesAsked } from '../../../../../money/catalog/web-search.ts'
import { isWebSearchTool } from '../../../../providers/client-tools.ts'
import { clientRunTool, toFunctionItem } from './client-run-tools.ts'

/** A chat with the parts of its request that only its response needs. */
export interface ResponsesRequest extends ChatRequest {
  readonly clientTools: ClientTools
  /** The customer's seal. */
  readonly reasoning: ReasoningSeal
  readonly repeated: Repeated
  /** Set if the response is to be stored. */
  readonly kept?: KeptInput
  /** On a connection that remembers its last response: all items of the conversation. */
  readonly asked?: readonly unknown[] | undefined
  /** Set if the answer is the summary of the conversation. */
  readonly compaction?: Compaction | undefined
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

/** Creates the format; with `compacts`, for `/v1/responses/compact`, every request asks for a summary. */
export function createResponsesFormat(
  reasoningSeals: ReasoningSeals,
  ids: ToolCallIds,
  compacts = false,
): ResponsesFormat {
  function readBody(
    asked: JsonObject,
    bytes: number,
    { customerId }: Pick<ChatCaller, 'customerId'>,
    itemsBefore = 0,
  ): ResponsesRequest | Refusal {
    const reasoning = reasoningSeals(customerId)
    const read = readCompaction(asked, reasoning, itemsBefore, compacts)
    if (isRefusal(read)) return read
    const { body, compaction } = read
    const request = readResponsesRequest(body, bytes, reasoning, itemsBefore)
    if (isRefusal(request)) return request
    // Before anything is measured: the hold is for the ids that an upstream gets.
    ids.reveal(request.messages)
    if (compaction) return { ...request, compaction }
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
    withPreset: presetInResponse,
    createWriter({ id, modelId, request }, onEnd) {
      const { clientTools, repeated, reasoning, compaction } = request
      const idTail = idTailOf(id)
      const createdAt = Math.floor(Date.now() / 1000)
      const repeatedText = writeRepeated(repeated)
      const head = { id: responseIdOf(idTail), createdAt, modelId, repeatedText, onEnd }
      const models = [modelId, request.modelId]
      const seal: SealReasoning = (kept) => reasoning.seal(kept, models)
      const sealSummary = compaction && ((text: string) => reasoning.sealSummary(text))
      const options = { idTail, tools: clientTools, seal, ids, sealSummary }
      // Created with the first chunk, because a plain answer needs neither.
      let written: ResponseStream | undefined
      let native: NativeResponseStream | undefined
      const stream = (): ResponseStream => (written ??= createResponseStream(head, options))
      return {
        answer: (body, charged, answer) =>
          answer
            ? nativeResponse(head, options, answer, charged)
            : wholeResponse(head, options, body, charged, compaction?.keptOf?.(id)),
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

/** Reads a request in the Responses format. `bytes` is the size of the body as it was received. */
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

/** The JSON of a whole response, from an answer in the chat-completions shape. */
function wholeResponse(
  head: ResponseHead,
  options: OutputOptions,
  body: JsonObject,
  charged: Charged,
  /** Set for `/v1/responses/compact`: the items that stay before the summary. */
  kept?: readonly JsonObject[],
): string {
  const choice = Array.isArray(body.choices) ? (body.choices[0] as unknown) : undefined
  const { message, finish_reason: reason } = isObject(choice) ? choice : {}
  const output = createResponseOutput(options, () => {})
  const finish = readFinish(reason)
  if (isObject(message)) output.add(message)
  output.end(finish.status === 'completed')
  if (kept) return writeCompaction(head, [...kept, ...output.items], charged)
  return writeResponse(head, { ...finish, output: output.items, charged })
}

/** The searches of the web that a request allows; 0 if it lists none, or if its `tool_choice` excludes it. */
function searchesAsked({ tools, tool_choice: choice, max_tool_calls: limit }: JsonObject): number {
  const isListed = (list: unknown): boolean =>
    Array.isArray(list) && list.filter(isObject).some(isWebSearchTool)
  if (!isListed(tools) || choice === 'none') return 0
  if (isObject(choice)) {
    const isChosen =
      choice.type === 'allowed_tools' ? isListed(choice.tools) : isWebSearchTool(choice)
    if (!isChosen) return 0
  }
  return webSearchesAsked(limit)
}

/** Whether the answer must search: its `tool_choice` names the search, or requires a tool where there is no other. */
function mustSearch({ tools, tool_choice: choice }: JsonObject): boolean {
  const areAll = (list: unknown): boolean =>
    Array.isArray(list) &&
    list.length > 0 &&
    list.every((one: unknown) => isObject(one) && isWebSearchTool(one))
  if (!isObject(choice)) return choice === 'required' && areAll(tools)
  if (choice.type !== 'allowed_tools') return isWebSearchTool(choice)
  return choice.mode === 'required' && areAll(choice.tools)
}

/**
 * The body for an upstream that speaks this format: with the upstream's own ids of calls, namespaces flattened as in
 * the translation, and without reasoning that is sealed here, which only the translation can open.
 */
function toNativeBody(
  body: JsonObject,
  ids: Pick<ToolCallIds, 'revealed'>,
  isOwnReasoning: (sealed: string) => boolean,
): JsonObject {
  const { input, tools } = body
  return {
    ...body,
    ...(Array.isArray(input)
      ? {
          input: input
            .filter(isObject)
            .flatMap((item) => toItem(toFunctionItem(item), ids, isOwnReasoning)),
        }
      : {}),
    ...(Array.isArray(tools) ? { tools: tools.filter(isObject).flatMap(toTools) } : {}),
  }
}

function toItem(
  item: JsonObject,
  ids: Pick<ToolCallIds, 'revealed'>,
  isOwnReasoning: (sealed: string) => boolean,
): JsonObject[] {
  const { type, encrypted_content: sealed, call_id: id, name, namespace } = item
  if (type === 'reasoning' && typeof sealed === 'string' && isOwnReasoning(sealed)) return []
  if (id === undefined) return [item]
  const named = typeof name === 'string' ? { name: upstreamNameOf(name, namespace) } : {}
  return [{ ...item, ...named, call_id: ids.revealed(id) }]
}

function toTools(tool: JsonObject): JsonObject[] {
  const known = clientRunTool(tool)
  if (known) {
    const { description, parameters } = known
    return [{ type: 'function', name: tool.type, description, parameters, strict: false }]
  }
  if (tool.type !== 'namespace' || !Array.isArray(tool.tools)) return [tool]
  return tool.tools
    .filter(isObject)
    .flatMap((inner) =>
      typeof inner.name === 'string'
        ? [{ ...inner, name: upstreamNameOf(inner.name, tool.name) }]
        : [],
    )
}
