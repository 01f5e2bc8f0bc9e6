/**
 * The format of Google's Gemini API (`generateContent` and its siblings). Its requests are translated to the
 * chat-completions shape, so that every model of the catalog answers them. The path names the model and whether the
 * answer is streamed: as server-sent events, or else as one JSON list.
 */
import { jsonBrl } from '../../../../../platform/lib/money.ts'
import type { JsonObject } from '../../../../providers/contract.ts'
import { readJsonBody } from '../../../read-request.ts'
import { isRefusal, refusals, type Refusal } from '../../../refusal.ts'
import type { Charged, ChatWriter, WholeChatFormat } from '../../chat-format.ts'
import { readChatRequest, type ChatRequest } from '../../chat-request.ts'
import type { ToolCallIds } from '../../tool-call-ids.ts'
import { InvalidField } from '../fields.ts'
import { presetInGemini } from '../presets.ts'
import type { ReasoningSeal, ReasoningSeals } from '../responses/reasoning-seal.ts'
import { createCandidates, wholeCandidates } from './candidates.ts'
import { messageAt, protoFields } from './proto-json.ts'
import { toChatBody } from './to-chat-body.ts'

const STATUSES: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  402: 'FAILED_PRECONDITION',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  413: 'INVALID_ARGUMENT',
  415: 'INVALID_ARGUMENT',
  426: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
}

/**
 * Writes the JSON body of an error as Google's clients read it: by its `status`, by how long they wait, and by a reason,
 * which is our code.
 */
export function geminiErrorBody({ status, code, message, retryAfterSeconds }: Refusal): string {
  const reason = {
    '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
    reason: code.toUpperCase(),
    domain: 'catraca',
  }
  const retry = {
    '@type': 'type.googleapis.com/google.rpc.RetryInfo',
    retryDelay: `${retryAfterSeconds}s`,
  }
  const details = retryAfterSeconds === undefined ? [reason] : [reason, retry]
  const error = { code: status, message, status: STATUSES[status] ?? 'INTERNAL', details }
  return JSON.stringify({ error })
}

export interface GeminiRequest extends ChatRequest {
  /** The customer's seal. */
  readonly reasoning: ReasoningSeal
  readonly showsThoughts: boolean
}

/** How an answer is sent: whole, or streamed as events, or as a list of JSON. */
export type Delivery = 'whole' | 'events' | 'list'

export function createGeminiFormat(
  ids: ToolCallIds,
  reasoningSeals: ReasoningSeals,
  delivery: Delivery,
): WholeChatFormat<GeminiRequest> {
  return {
    readRequest: (raw, { customerId }) =>
      readGeminiRequest(ids, reasoningSeals(customerId), raw, delivery !== 'whole', protoFields),
    withPreset: presetInGemini,
    createWriter(call) {
      return createWriter(ids, delivery === 'list' ? listFrame() : eventFrame, call)
    },
  }
}

/** Returns the format of requests for counts of tokens: the contents, or the request that would be sent. */
export function createGeminiTokensFormat(
  ids: ToolCallIds,
  reasoningSeals: ReasoningSeals,
): WholeChatFormat<GeminiRequest> {
  return {
    ...createGeminiFormat(ids, reasoningSeals, 'whole'),
    readRequest: (raw, { customerId }) =>
      readGeminiRequest(ids, reasoningSeals(customerId), raw, false, (body) => {
        const fields = protoFields(body)
        const asked = messageAt(fields.generateContentRequest, 'generateContentRequest')
        return { ...fields, ...asked, model: fields.model }
      }),
  }
}

function readGeminiRequest(
  ids: ToolCallIds,
  reasoning: ReasoningSeal,
  raw: Buffer,
  stream: boolean,
  fieldsOf: (body: JsonObject) => JsonObject,
): GeminiRequest | Refusal {
  const json = readJsonBody(raw)
  if (isRefusal(json)) return json
  try {
    const fields = fieldsOf(json)
    const { body, showsThoughts } = toChatBody(fields, (sealed) =>
      reasoning.isOwn(sealed) ? reasoning.open(sealed, fields.model) : undefined,
    )
    const request = readChatRequest({ ...body, stream }, raw.length)
    if (isRefusal(request)) return request
    // Before anything is measured: the hold is for the ids that an upstream gets.
    ids.reveal(request.messages)
    return { ...request, reasoning, showsThoughts }
  } catch (error) {
    if (error instanceof InvalidField) return refusals.invalidRequest(error.message)
    throw error
  }
}

/** Puts the JSON of an answer, or of the error that breaks it off, into a stream. */
interface Frame {
  next(json: string): string
  last(json: string): string
}

const event = (json: string): string => `data: ${json}\n\n`
const eventFrame: Frame = { next: event, last: event }

function listFrame(): Frame {
  let hasBegun = false
  const next = (json: string): string => {
    const before = hasBegun ? ',\n' : '['
    hasBegun = true
    return before + json
  }
  return { next, last: (json) => `${next(json)}]` }
}

function createWriter(
  ids: ToolCallIds,
  frame: Frame,
  {
    id,
    modelId,
    request,
  }: { readonly id: string; readonly modelId: string; readonly request: GeminiRequest },
): ChatWriter {
  const models = [modelId, request.modelId]
  const options = {
    ids,
    seal: (kept: Parameters<ReasoningSeal['seal']>[0]) => request.reasoning.seal(kept, models),
    showsThoughts: request.showsThoughts,
  }
  const head = { modelVersion: modelId, responseId: id }
  const candidates = createCandidates(options)
  const lastOf = (list: readonly JsonObject[], charged: Charged): string =>
    JSON.stringify({
      candidates: list,
      usageMetadata: usageMetadata(charged),
      ...head,
      cost_billed_brl: jsonBrl(charged.billedNanoBrl),
    })
  return {
    answer: ({ choices }, charged) => lastOf(wholeCandidates(options, choices), charged),
    chunk({ choices }) {
      const added = candidates.add(choices, 'delta')
      return added.length === 0
        ? undefined
        : frame.next(JSON.stringify({ candidates: added, ...head }))
    },
    end: (charged) => frame.last(lastOf(candidates.end(), charged)),
    broken: (refused) => frame.last(geminiErrorBody(refused)),
  }
}

/** Thoughts are not part of the candidates' tokens in this format. */
function usageMetadata(charged: Charged): JsonObject {
  const { promptTokens, cachedTokens, completionTokens, reasoningTokens } = charged
  return {
    promptTokenCount: promptTokens,
    ...(cachedTokens > 0 ? { cachedContentTokenCount: cachedTokens } : {}),
    candidatesTokenCount: completionTokens - reasoningTokens,
    ...(reasoningTokens > 0 ? { thoughtsTokenCount: reasoningTokens } : {}),
    totalTokenCount: promptTokens + completionTokens,
  }
}
