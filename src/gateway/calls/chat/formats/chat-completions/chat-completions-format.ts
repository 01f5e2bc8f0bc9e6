/**
 * The format of OpenAI's chat completions; a stream ends with `data: [DONE]`. Only the public fields listed here reach
 * the customer, so the upstream's own names and fingerprints stay hidden.
 */
import type { TokenCounts } from '../../../../../money/catalog/prices.ts'
import { isObject } from '../../../../../platform/lib/is-object.ts'
import { decimalBrl, jsonBrl } from '../../../../../platform/lib/money.ts'
import type { JsonObject } from '../../../../providers/contract.ts'
import { isAbsent } from '../../../field-faults.ts'
import { isRefusal, refusalBody, type Refusal } from '../../../refusal.ts'
import { readJsonBody } from '../../../read-request.ts'
import { type Charged, type WholeChatFormat, createDeltaWriter } from '../../chat-format.ts'
import { readChatRequest, type ChatRequest } from '../../chat-request.ts'
import { copyFields } from '../fields.ts'
import { presetInChat, presetInResponse } from '../presets.ts'
import type { ToolCallIds } from '../../tool-call-ids.ts'

const KNOWN: ReadonlySet<unknown> = new Set([
  'stop',
  'length',
  'tool_calls',
  'content_filter',
  'function_call',
])

/** Returns the finish reason as the format has it: an upstream's own words may name it. Null while a choice goes on. */
export function publicFinishReason(reason: unknown): unknown {
  if (KNOWN.has(reason)) return reason
  return reason ? 'stop' : null
}

/** The leading fields of an answer, the same in every chunk of a stream. */
interface AnswerHead {
  readonly id: string
  readonly created: number
  readonly modelId: string
}

const CHOICE_FIELDS: ReadonlySet<string> = new Set(['index', 'finish_reason', 'logprobs'])
const MESSAGE_FIELDS: ReadonlySet<string> = new Set([
  'role',
  'content',
  'refusal',
  'tool_calls',
  'function_call',
  'annotations',
  'reasoning_content',
  'reasoning',
  'reasoning_details',
  // Thought signatures, which some models require in the next turn.
  'extra_content',
])

/** Reads a request in the Responses format as a chat. */
export type ReadResponsesRequest = (
  body: JsonObject,
  bytes: number,
  customerId: string,
) => ChatRequest | Refusal

/** Some clients (Cursor) send bodies of the Responses format, and read the answers of this one. */
export function createChatCompletionsFormat(
  ids: ToolCallIds,
  readResponsesRequest: ReadResponsesRequest,
): WholeChatFormat {
  return {
    readRequest(raw, { customerId }) {
      const body = readJsonBody(raw)
      if (isRefusal(body)) return body
      const request = isOfResponses(body)
        ? readResponsesRequest(body, raw.length, customerId)
        : readChatRequest(body, raw.length)
      // Before anything is measured: the hold is for the ids that an upstream gets.
      if (!isRefusal(request)) ids.reveal(request.messages)
      return request
    },
    withPreset: (body, preset) =>
      isOfResponses(body) ? presetInResponse(body, preset) : presetInChat(body, preset),
    createWriter({ id, modelId, request }) {
      const head = { id: `chatcmpl-${id}`, created: Math.floor(Date.now() / 1000), modelId }
      // Created with the first chunk, because a plain answer does not need it.
      let opening: string | undefined
      const chunk = (body: JsonObject): string | undefined =>
        publicChunk(ids, (opening ??= chunkOpening(head)), body)
      const deltas = createDeltaWriter((like, text) => chunk(like.bodyWith(text)) ?? '')
      return {
        answer: (body, charged) => publicAnswer(ids, head, body, charged),
        chunk,
        delta: deltas.write,
        end: (charged) => `${request.wantsUsage ? usageChunk(head, charged) : ''}data: [DONE]\n\n`,
        broken: (refused) => `data: ${refusalBody(refused)}\n\n`,
      }
    },
  }
}

function isOfResponses({ messages, input }: JsonObject): boolean {
  return isAbsent(messages) && !isAbsent(input)
}

/** The JSON of a whole answer, with its cost in BRL to all nine decimals. */
function publicAnswer(
  ids: ToolCallIds,
  head: AnswerHead,
  body: JsonObject,
  charged: Charged,
): string {
  return JSON.stringify({
    id: head.id,
    object: 'chat.completion',
    created: head.created,
    model: head.modelId,
    choices: publicChoices(ids, body.choices, 'message'),
    usage: publicUsage(charged),
    cost_billed_brl: jsonBrl(charged.billedNanoBrl),
  })
}

/** The beginning of every event of a stream, up to its choices. */
function chunkOpening({ id, created, modelId }: AnswerHead): string {
  const head = JSON.stringify({ id, object: 'chat.completion.chunk', created, model: modelId })
  return `data: ${head.slice(0, -1)},"choices":`
}

/** A chunk as a server-sent event; undefined if it has no choices, such as a chunk that carries only usage. */
function publicChunk(ids: ToolCallIds, opening: string, body: JsonObject): string | undefined {
  if (!Array.isArray(body.choices) || body.choices.length === 0) return undefined
  return `${opening}${JSON.stringify(publicChoices(ids, body.choices, 'delta'))}}\n\n`
}

/** The usage chunk before the end, for clients that set `stream_options.include_usage`. */
function usageChunk(head: AnswerHead, charged: Charged): string {
  const usage = JSON.stringify(publicUsage(charged))
  const cost = decimalBrl(charged.billedNanoBrl)
  return `${chunkOpening(head)}[],"usage":${usage},"cost_billed_brl":${cost}}\n\n`
}

function publicChoices(
  ids: ToolCallIds,
  choices: unknown,
  part: 'message' | 'delta',
): JsonObject[] {
  const shown: JsonObject[] = []
  for (const choice of choices as unknown[]) {
    if (!isObject(choice)) continue
    if (choice.finish_reason !== undefined)
      choice.finish_reason = publicFinishReason(choice.finish_reason)
    const shownPart = choice[part]
    if (isObject(shownPart) && shownPart.tool_calls !== undefined) ids.hide(shownPart)
    if (isPublic(choice, part)) {
      shown.push(choice)
      continue
    }
    const result: JsonObject = {}
    copyFields(CHOICE_FIELDS, choice, result)
    if (isObject(choice[part])) {
      const message: JsonObject = {}
      copyFields(MESSAGE_FIELDS, choice[part], message)
      result[part] = message
    }
    shown.push(result)
  }
  return shown
}

/** Whether a choice has public fields only, as most do: then it needs no copy. */
function isPublic(choice: JsonObject, part: 'message' | 'delta'): boolean {
  for (const field in choice) if (field !== part && !CHOICE_FIELDS.has(field)) return false
  const message = choice[part]
  if (message === undefined) return true
  if (!isObject(message)) return false
  for (const field in message) if (!MESSAGE_FIELDS.has(field)) return false
  return true
}

export function publicUsage(tokens: TokenCounts): JsonObject {
  return {
    prompt_tokens: tokens.promptTokens,
    completion_tokens: tokens.completionTokens,
    total_tokens: tokens.promptTokens + tokens.completionTokens,
    prompt_tokens_details: { cached_tokens: tokens.cachedTokens },
    completion_tokens_details: { reasoning_tokens: tokens.reasoningTokens },
  }
}
