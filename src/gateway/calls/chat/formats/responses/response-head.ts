/** The response object without its output: the same in a whole answer and in the events of a stream. */
import { uuidIn } from '../../../../../platform/lib/ids.ts'
import { isObject } from '../../../../../platform/lib/is-object.ts'
import { decimalBrl } from '../../../../../platform/lib/money.ts'
import type { JsonObject } from '../../../../providers/contract.ts'
import { isAbsent } from '../../../field-faults.ts'
import type { Charged } from '../../chat-format.ts'

export interface ResponseHead {
  readonly id: string
  readonly createdAt: number
  readonly modelId: string
  /** Written by `writeRepeated`. A stream has it three times, and agents send instructions of many kilobytes. */
  readonly repeatedText: string
  readonly onEnd?: ((ended: EndedResponse) => void) | undefined
}

/** A response as it is written at its end. */
export interface EndedResponse {
  readonly isFailed: boolean
  /** JSON without the output. */
  readonly head: string
  /** JSON of the items. */
  readonly output: string
}

/** The parts of a valid request that its response repeats. */
export interface Repeated {
  readonly fields: Readonly<RepeatedFields>
  /** The tools that are not left out, as the client sent them. */
  readonly tools: readonly JsonObject[]
  readonly isStored: boolean
  /** The stored response that the request continues. */
  readonly previousId: unknown
}

const REPEATED_FIELDS = [
  'instructions',
  'max_output_tokens',
  'metadata',
  'parallel_tool_calls',
  'prompt_cache_key',
  'reasoning',
  'safety_identifier',
  'temperature',
  'text',
  'tool_choice',
  'top_p',
  'user',
] as const

type RepeatedFields = Partial<Record<(typeof REPEATED_FIELDS)[number], unknown>>

/**
 * Returns what a response repeats of its request. It does not keep the whole body, which would stay in memory for the
 * whole call, also after the shield has masked a copy of it.
 */
export function repeatedOf(body: JsonObject, tools: readonly JsonObject[]): Repeated {
  const fields: RepeatedFields = {}
  for (const name of REPEATED_FIELDS) fields[name] = body[name]
  return { fields, tools, isStored: false, previousId: null }
}

/**
 * Writes the fields of the request that a response repeats as JSON, with the format's defaults and without braces. They
 * are written field by field: as one object of twenty fields, most of them constant, they were measured to take four
 * times as long.
 */
export function writeRepeated({ fields, tools, isStored, previousId }: Repeated): string {
  const { metadata, reasoning, text, tool_choice: choice, user } = fields
  // Only one tier has a price here. No request sets the penalties; Open Responses wants them in every response.
  return (
    '"background":false,"frequency_penalty":0,"max_tool_calls":null,"presence_penalty":0,' +
    '"service_tier":"default","top_logprobs":0,"truncation":"disabled",' +
    `"instructions":${orNull(fields.instructions)},` +
    `"max_output_tokens":${orNull(fields.max_output_tokens)},` +
    `"metadata":${isObject(metadata) ? JSON.stringify(metadata) : '{}'},` +
    `"parallel_tool_calls":${fields.parallel_tool_calls !== false},` +
    `"previous_response_id":${orNull(previousId)},` +
    `"prompt_cache_key":${textOrNull(fields.prompt_cache_key)},` +
    `"reasoning":${isObject(reasoning) ? writeReasoning(reasoning) : NO_REASONING},` +
    `"safety_identifier":${textOrNull(fields.safety_identifier)},` +
    `"store":${isStored},` +
    `"temperature":${orNull(fields.temperature ?? 1)},` +
    `"text":${isObject(text) ? writeText(text) : PLAIN_TEXT},` +
    `"tool_choice":${isAbsent(choice) ? '"auto"' : JSON.stringify(choice)},` +
    `"tools":${tools.length === 0 ? '[]' : JSON.stringify(tools.map(describeTool))},` +
    `"top_p":${orNull(fields.top_p ?? 1)}` +
    (typeof user === 'string' ? `,"user":${JSON.stringify(user)}` : '')
  )
}

const NO_REASONING = '{"effort":null,"summary":null}'
const PLAIN_TEXT = '{"format":{"type":"text"}}'

function writeReasoning({ effort, summary }: JsonObject): string {
  return `{"effort":${orNull(effort)},"summary":${orNull(summary)}}`
}

function writeText(text: JsonObject): string {
  return JSON.stringify({ format: { type: 'text' }, ...filled(text) })
}

/** The JSON of a value that came from JSON. */
function orNull(value: unknown): string {
  return isAbsent(value) ? 'null' : JSON.stringify(value)
}

function textOrNull(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value) : 'null'
}

/** The fields in which a response ends; null before its end. */
export interface ResponseEnd {
  readonly status: 'in_progress' | 'completed' | 'incomplete' | 'failed'
  readonly output: readonly JsonObject[]
  readonly charged?: Charged
  readonly incompleteReason?: string
  readonly error?: { readonly code: string; readonly message: string }
}

/** Writes a response as JSON. */
export function writeResponse(head: ResponseHead, end: ResponseEnd): string {
  const { status, charged, incompleteReason: reason, error } = end
  const endedAt = status === 'completed' ? Math.floor(Date.now() / 1000) : null
  const details = reason === undefined ? null : JSON.stringify({ reason })
  const own =
    `"id":"${head.id}","object":"response","created_at":${head.createdAt},` +
    `"status":"${status}","completed_at":${endedAt},` +
    `"error":${error ? JSON.stringify(error) : null},"incomplete_details":${details},` +
    `"model":${JSON.stringify(head.modelId)}`
  const output = JSON.stringify(end.output)
  const cost = charged
    ? `"usage":${writeUsage(charged)},"cost_billed_brl":${decimalBrl(charged.billedNanoBrl)}`
    : '"usage":null'
  const rest = `${head.repeatedText},${cost}`
  if (status !== 'in_progress')
    head.onEnd?.({ isFailed: status === 'failed', head: `{${own},${rest}}`, output })
  return `{${own},"output":${output},${rest}}`
}

/** Writes the answer of `/v1/responses/compact` as JSON. */
export function writeCompaction(
  { id, createdAt }: ResponseHead,
  output: readonly JsonObject[],
  charged: Charged,
): string {
  return (
    `{"id":"${id}","object":"response.compaction","created_at":${createdAt},` +
    `"output":${JSON.stringify(output)},"usage":${writeUsage(charged)},` +
    `"cost_billed_brl":${decimalBrl(charged.billedNanoBrl)}}`
  )
}

function writeUsage(charged: Charged): string {
  const { promptTokens, cachedTokens, cacheWriteTokens, completionTokens, reasoningTokens } =
    charged
  return (
    `{"input_tokens":${promptTokens},` +
    `"input_tokens_details":{"cached_tokens":${cachedTokens},"cache_write_tokens":${cacheWriteTokens}},` +
    `"output_tokens":${completionTokens},` +
    `"output_tokens_details":{"reasoning_tokens":${reasoningTokens}},` +
    `"total_tokens":${promptTokens + completionTokens}}`
  )
}

/** The format has null for the fields of a function that were not given. */
function describeTool(tool: JsonObject): JsonObject {
  if (tool.type !== 'function') return tool
  const { description = null, parameters = null, strict = null } = tool
  return { ...tool, description, parameters, strict }
}

function filled(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => !isAbsent(value)))
}

/** The ids of responses and of their items, which begin with the id of the call. */

export function responseIdOf(idTail: string): string {
  return `resp_${idTail}`
}

/** Returns the id of the call that made a response; undefined for an id that this service has never given. */
export function callIdOfResponse(responseId: unknown): string | undefined {
  return typeof responseId === 'string' ? uuidIn(/^resp_([0-9a-f]{32})$/, responseId) : undefined
}

/** Returns the id of the call that made an item of an output. */
export function callIdOfItem(itemId: unknown): string | undefined {
  return typeof itemId === 'string'
    ? uuidIn(/^[a-z]{2,4}_([0-9a-f]{32})\d{1,6}$/, itemId)
    : undefined
}
