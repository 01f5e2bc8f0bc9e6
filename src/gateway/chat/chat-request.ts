/**
 * Reads a chat in the chat-completions shape, which every format of clients is translated to. Only what
 * the gateway needs is checked (the specification's table, and what decides the price); every other field
 * passes through as it came.
 */
import { isObject } from '../../lib/is-object.ts'
import type { JsonObject } from '../../providers/contract.ts'
import type { CallRequest } from '../call-kind.ts'
import {
  findFallbacksFault,
  findModelIdFault,
  findNumberFault,
  isAbsent,
  takeFallbacks,
} from '../field-faults.ts'
import { refusals, type Refusal } from '../refusal.ts'

export interface ChatRequest extends CallRequest {
  readonly body: JsonObject
  readonly messages: readonly JsonObject[]
  readonly wantsUsage: boolean
  /** The larger of `max_tokens` and `max_completion_tokens`; undefined where neither was given. */
  readonly outputTokensMax: number | undefined
  readonly choices: number
  readonly hasTools: boolean
  readonly imageCount: number
  /** Bytes of the body that are images: they cost by the image, not by the byte. */
  readonly imageBytes: number
  /** Documents: what they cost is bounded by the model's context alone. */
  readonly hasFiles: boolean
  /** Bytes of the body. */
  readonly bytes: number
}

const ROLES = new Set(['system', 'developer', 'user', 'assistant', 'tool', 'function'])
const CHOICES_MAX = 128
/** `bytes` is what the request had on the wire. */
export function readChatRequest(body: JsonObject, bytes: number): ChatRequest | Refusal {
  const fault = findFault(body)
  if (fault !== undefined) return refusals.invalidRequest(fault)

  const messages = body.messages as JsonObject[]
  const parts = countParts(messages)
  const limits = [body.max_tokens, body.max_completion_tokens].filter(
    (limit) => typeof limit === 'number',
  )
  return {
    body,
    modelId: body.model as string,
    fallbackModelIds: takeFallbacks(body),
    messages,
    isStream: body.stream === true,
    wantsUsage: isObject(body.stream_options) && body.stream_options.include_usage === true,
    outputTokensMax: limits.length > 0 ? Math.max(...limits) : undefined,
    choices: (body.n as number | null | undefined) ?? 1,
    hasTools: Array.isArray(body.tools) && body.tools.length > 0,
    ...parts,
    bytes,
  }
}

/** The first fault of the request, told in Portuguese; undefined where it is sound. */
function findFault(body: JsonObject): string | undefined {
  return (
    findModelIdFault(body) ??
    findFallbacksFault(body) ??
    findMessagesFault(body.messages) ??
    findNumberFault(body, 'max_tokens', 1, Number.MAX_SAFE_INTEGER, true) ??
    findNumberFault(body, 'max_completion_tokens', 1, Number.MAX_SAFE_INTEGER, true) ??
    findNumberFault(body, 'temperature', 0, 2, false) ??
    findNumberFault(body, 'n', 1, CHOICES_MAX, true) ??
    findShapeFault(body) ??
    findUnpricedFault(body)
  )
}

function findMessagesFault(messages: unknown): string | undefined {
  if (!Array.isArray(messages) || messages.length === 0) {
    return 'O campo "messages" é obrigatório e deve ser uma lista com pelo menos uma mensagem.'
  }
  for (const [index, message] of messages.entries()) {
    const where = `messages[${index}]`
    if (!isObject(message)) return `${where} deve ser um objeto com "role" e "content".`
    if (typeof message.role !== 'string' || !ROLES.has(message.role)) {
      return `${where}.role deve ser system, user, assistant ou tool.`
    }
    const fault = findContentFault(message, where)
    if (fault !== undefined) return fault
  }
  return undefined
}

function findContentFault(message: JsonObject, where: string): string | undefined {
  const { content } = message
  if (typeof content === 'string') return undefined
  if (content === null || content === undefined) {
    // An assistant turn may hold only tool calls or a refusal.
    return message.role === 'assistant' ? undefined : `${where}.content é obrigatório.`
  }
  if (!Array.isArray(content)) return `${where}.content deve ser um texto ou uma lista de partes.`
  for (const [index, part] of content.entries()) {
    if (!isObject(part) || typeof part.type !== 'string') {
      return `${where}.content[${index}] deve ser um objeto com "type".`
    }
    if (!['text', 'refusal', 'image_url', 'file'].includes(part.type)) {
      return `${where}.content[${index}]: partes deste tipo não são aceitas aqui; use text, image_url ou file.`
    }
    if (part.type === 'text' && typeof part.text !== 'string')
      return `${where}.content[${index}].text deve ser um texto.`
    if (
      part.type === 'image_url' &&
      (!isObject(part.image_url) || typeof part.image_url.url !== 'string')
    ) {
      return `${where}.content[${index}].image_url.url deve ser um texto.`
    }
  }
  return undefined
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

/** What would be billed by a price that the catalog does not have cannot be held, so it is refused. */
function findUnpricedFault(body: JsonObject): string | undefined {
  if (!isAbsent(body.web_search_options)) return 'O campo "web_search_options" não está disponível.'
  if (
    !isAbsent(body.audio) ||
    (Array.isArray(body.modalities) && body.modalities.includes('audio'))
  ) {
    return 'Saída de áudio não está disponível em chat/completions.'
  }
  if (
    !isAbsent(body.service_tier) &&
    !['auto', 'default', 'flex'].includes(body.service_tier as string)
  ) {
    return 'O campo "service_tier" aceita auto, default ou flex.'
  }
  if (Array.isArray(body.tools)) {
    const index = (body.tools as JsonObject[]).findIndex(
      (tool) => !['function', 'custom'].includes(tool.type as string),
    )
    if (index !== -1) return `tools[${index}].type deve ser "function".`
  }
  return undefined
}

function countParts(messages: readonly JsonObject[]): {
  imageCount: number
  imageBytes: number
  hasFiles: boolean
} {
  let imageCount = 0
  let imageBytes = 0
  let hasFiles = false
  for (const { content } of messages) {
    if (!Array.isArray(content)) continue
    for (const part of content as JsonObject[]) {
      if (part.type === 'file') hasFiles = true
      if (part.type !== 'image_url') continue
      imageCount += 1
      // Characters of an address are at least one byte each in the body.
      imageBytes += ((part.image_url as JsonObject).url as string).length
    }
  }
  return { imageCount, imageBytes, hasFiles }
}
