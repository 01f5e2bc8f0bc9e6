/**
 * Reads a chat in the chat-completions shape, to which every client format is translated. Checks only the fields
 * of the specification's table and the fields that decide the price. The adapter's list decides which other fields
 * reach an upstream.
 */
import { isObject } from '../../../platform/lib/is-object.ts'
import type { ChatContent, JsonObject, NativeChat } from '../../providers/contract.ts'
import type { Placeholders } from '../../shield/placeholders.ts'
import type { CallRequest } from '../call.ts'
import { findNumberFault, isAbsent, keepFields } from '../field-faults.ts'
import { refusals, type Refusal } from '../refusal.ts'
import { findRoutingFault, takeRouting } from '../routing/route-choice.ts'
import { readCacheControl, readMessages, type MessageFacts } from './read-messages.ts'

export interface ChatRequest extends CallRequest, Readonly<MessageFacts> {
  readonly body: JsonObject
  readonly messages: readonly JsonObject[]
  readonly wantsUsage: boolean
  /** The larger of `max_tokens` and `max_completion_tokens`; undefined if neither was given. */
  readonly outputTokensMax: number | undefined
  readonly choices: number
  readonly hasTools: boolean
  /** The answer must follow a JSON schema. */
  readonly hasSchema: boolean
  /** Size of the body as it was received, or after its masking. */
  readonly bytes: number
  /** The values that the shield took out of the body, to be put back into the answer. */
  readonly placeholders?: Placeholders | undefined
  /** The request as the client wrote it, for upstreams that speak its format; see `ChatContent`. */
  readonly native?: NativeChat | undefined
  /** See `ChatContent`. Set once they are downloaded, with the characters that they have in base64. */
  readonly documents?: ChatContent['documents']
  readonly documentBytes?: number
  /** The memory of what was read for the request beside its body. */
  readonly room?: Disposable
  /** See `ChatContent`. */
  readonly memo: ChatContent['memo']
}

const CHOICES_MAX = 128
/**
 * A number of tokens that no model writes in one answer; a lower limit than this is a wish, which is lowered to the
 * model's.
 */
export const OUTPUT_TOKENS_ABSURD = 100_000_000

/** Reads a request in the chat-completions shape. `bytes` is the size of the body as it was received. */
export function readChatRequest(body: JsonObject, bytes: number): ChatRequest | Refusal {
  const opening = findRoutingFault(body)
  if (opening !== undefined) return refusals.invalidRequest(opening)
  const facts = readMessages(body.messages)
  const fault = typeof facts === 'string' ? facts : findFault(body)
  if (fault !== undefined || typeof facts === 'string')
    return refusals.invalidRequest(fault as string)

  const hasTools = isFilled(body.tools) || isFilled(body.functions)
  if (hasTools) readTools(body, facts)
  const limits = [body.max_tokens, body.max_completion_tokens].filter(
    (limit) => typeof limit === 'number',
  )
  return {
    body,
    ...takeRouting(body),
    messages: body.messages as JsonObject[],
    isStream: body.stream === true,
    wantsUsage: isObject(body.stream_options) && body.stream_options.include_usage === true,
    outputTokensMax: limits.length > 0 ? Math.max(...limits) : undefined,
    choices: (body.n as number | null | undefined) ?? 1,
    hasTools,
    hasSchema: isObject(body.response_format) && body.response_format.type === 'json_schema',
    imageCount: facts.imageCount,
    imageBytes: facts.imageBytes,
    hasImageAddresses: facts.hasImageAddresses,
    hasFiles: facts.hasFiles,
    fileAddressCount: facts.fileAddressCount,
    hasAudio: facts.hasAudio,
    hasCacheControl: facts.hasCacheControl,
    cachesForAnHour: facts.cachesForAnHour,
    bytes,
    memo: {},
  }
}

function isFilled(list: unknown): boolean {
  return Array.isArray(list) && list.length > 0
}

export const TOOL_FIELDS: ReadonlySet<string> = new Set([
  'type',
  'function',
  'custom',
  'cache_control',
])
export const FUNCTION_FIELDS: ReadonlySet<string> = new Set([
  'name',
  'description',
  'parameters',
  'strict',
])
export const CUSTOM_FIELDS: ReadonlySet<string> = new Set(['name', 'description', 'format'])

function readTools(body: JsonObject, facts: MessageFacts): void {
  for (const tool of (body.tools as JsonObject[] | null | undefined) ?? []) {
    keepFields(TOOL_FIELDS, tool)
    if (isObject(tool.function)) keepFields(FUNCTION_FIELDS, tool.function)
    if (isObject(tool.custom)) keepFields(CUSTOM_FIELDS, tool.custom)
    readCacheControl(tool, facts)
  }
  if (Array.isArray(body.functions))
    for (const each of body.functions as unknown[])
      if (isObject(each)) keepFields(FUNCTION_FIELDS, each)
}

/** Returns the first fault of the request in Portuguese; undefined if the request is valid. */
function findFault(body: JsonObject): string | undefined {
  return (
    findNumberFault(body, 'max_tokens', 1, OUTPUT_TOKENS_ABSURD, true) ??
    findNumberFault(body, 'max_completion_tokens', 1, OUTPUT_TOKENS_ABSURD, true) ??
    findNumberFault(body, 'temperature', 0, 2, false) ??
    findNumberFault(body, 'n', 1, CHOICES_MAX, true) ??
    findShapeFault(body) ??
    findUnpricedFault(body)
  )
}

function findShapeFault(body: JsonObject): string | undefined {
  if (!isAbsent(body.stream) && typeof body.stream !== 'boolean')
    return 'O campo "stream" deve ser true ou false.'
  if (!isAbsent(body.stream_options) && !isObject(body.stream_options))
    return 'O campo "stream_options" deve ser um objeto.'
  if (!isAbsent(body.response_format) && !isObject(body.response_format)) {
    return 'O campo "response_format" deve ser um objeto.'
  }
  if (!isAbsent(body.tools) && (!Array.isArray(body.tools) || !body.tools.every(isObject))) {
    return 'O campo "tools" deve ser uma lista de objetos.'
  }
  return undefined
}

/**
 * Fields that add something to the answer or the prompt for which the catalog has no price. They are refused
 * because dropping them silently would change the answer.
 */
const UNPRICED = [
  'web_search_options',
  'search_parameters',
  'enable_search',
  'data_sources',
  'documents',
  'plugins',
  'mcp_servers',
  'audio',
  'deferred',
  'chat_template',
]

function findUnpricedFault(body: JsonObject): string | undefined {
  for (const field of UNPRICED) {
    if (body[field] !== undefined && isAsked(body[field]))
      return `O campo "${field}" não está disponível.`
  }
  const { modalities, service_tier: tier } = body
  if (!isAbsent(modalities) && !isTextOnly(modalities))
    return 'O campo "modalities" aceita só ["text"]: saída de áudio e de imagem não está disponível em chat/completions.'
  if (!isAbsent(tier) && tier !== 'auto' && tier !== 'default')
    return 'O campo "service_tier" aceita auto ou default: as outras faixas não têm preço aqui.'
  if (Array.isArray(body.tools)) {
    const index = (body.tools as JsonObject[]).findIndex(
      (tool) => !['function', 'custom'].includes(tool.type as string),
    )
    if (index !== -1) return `tools[${index}].type deve ser "function".`
  }
  return undefined
}

/** Whether the client set the field: client libraries also send empty values of fields that were never set. */
function isAsked(value: unknown): boolean {
  return !isAbsent(value) && value !== false && !(Array.isArray(value) && value.length === 0)
}

function isTextOnly(modalities: unknown): boolean {
  return Array.isArray(modalities) && modalities.every((each) => each === 'text')
}
