/** The response object without its output: the same in a whole answer and in the events of a stream. */
import { isObject } from '../../../../lib/is-object.ts'
import { jsonBrl } from '../../../../lib/money.ts'
import type { JsonObject } from '../../../../providers/contract.ts'
import { isAbsent } from '../../../field-faults.ts'
import type { Charged } from '../../chat-format.ts'
import type { TranslatedTools } from './to-chat-tools.ts'

export interface ResponseHead {
  readonly id: string
  readonly createdAt: number
  readonly modelId: string
  /** The fields of the request that its response repeats. */
  readonly repeated: JsonObject
  /** The same as JSON. A stream has it three times, and agents send instructions of many kilobytes. */
  readonly repeatedText: string
  /** Gets the response as it is written at its end. */
  readonly onEnd?: ((response: JsonObject) => void) | undefined
}

/** The fields of a valid request that its response repeats, with the format's defaults. */
export function repeatedFields(body: JsonObject, tools: TranslatedTools): JsonObject {
  const { reasoning, text, tool_choice: choice } = body
  return {
    background: false,
    // No request sets these two; Open Responses wants them in every response.
    frequency_penalty: 0,
    instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    max_tool_calls: null,
    metadata: isObject(body.metadata) ? body.metadata : {},
    parallel_tool_calls: body.parallel_tool_calls !== false,
    presence_penalty: 0,
    previous_response_id: null,
    prompt_cache_key: textOrNull(body.prompt_cache_key),
    reasoning: isObject(reasoning)
      ? { effort: reasoning.effort ?? null, summary: reasoning.summary ?? null }
      : { effort: null, summary: null },
    safety_identifier: textOrNull(body.safety_identifier),
    // The only tier with a price here.
    service_tier: 'default',
    // Of an account that stores none; otherwise set by `stored-responses-format.ts`.
    store: false,
    temperature: body.temperature ?? 1,
    text: { format: { type: 'text' }, ...(isObject(text) ? filled(text) : {}) },
    tool_choice: isAbsent(choice) ? 'auto' : choice,
    tools: tools.kept.map(describeTool),
    top_logprobs: 0,
    top_p: body.top_p ?? 1,
    truncation: 'disabled',
    ...(typeof body.user === 'string' ? { user: body.user } : {}),
  }
}

/** The fields in which a response ends; null before its end. */
export interface ResponseEnd {
  readonly status: 'in_progress' | 'completed' | 'incomplete' | 'failed'
  readonly output: readonly JsonObject[]
  readonly charged?: Charged
  readonly incompleteReason?: string
  readonly error?: { readonly code: string; readonly message: string }
}

/** The JSON of a response. */
export function writeResponse(head: ResponseHead, end: ResponseEnd): string {
  const own = ownFields(head, end)
  const cost = costFields(end)
  if (end.status !== 'in_progress') head.onEnd?.({ ...own, ...head.repeated, ...cost })
  return joinObjects([JSON.stringify(own), head.repeatedText, JSON.stringify(cost)])
}

/** One object of several that are written as JSON, none of them empty. */
function joinObjects(texts: readonly string[]): string {
  return `{${texts.map((text) => text.slice(1, -1)).join(',')}}`
}

function ownFields(
  head: ResponseHead,
  { status, output, incompleteReason: reason, error }: ResponseEnd,
): JsonObject {
  return {
    id: head.id,
    object: 'response',
    created_at: head.createdAt,
    status,
    completed_at: status === 'completed' ? Math.floor(Date.now() / 1000) : null,
    error: error ?? null,
    incomplete_details: reason === undefined ? null : { reason },
    model: head.modelId,
    output,
  }
}

function costFields({ charged }: ResponseEnd): JsonObject {
  return charged
    ? { usage: toUsage(charged), cost_billed_brl: jsonBrl(charged.billedNanoBrl) }
    : { usage: null }
}

function toUsage(charged: Charged): JsonObject {
  const { promptTokens, cachedTokens, cacheWriteTokens, completionTokens, reasoningTokens } =
    charged
  return {
    input_tokens: promptTokens,
    input_tokens_details: { cached_tokens: cachedTokens, cache_write_tokens: cacheWriteTokens },
    output_tokens: completionTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens },
    total_tokens: promptTokens + completionTokens,
  }
}

/** The format has null for the fields of a function that were not given. */
function describeTool(tool: JsonObject): JsonObject {
  if (tool.type !== 'function') return tool
  const { description = null, parameters = null, strict = null } = tool
  return { ...tool, description, parameters, strict }
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

function filled(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => !isAbsent(value)))
}
