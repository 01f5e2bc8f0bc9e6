/**
 * Reads the messages of a chat in one pass: checks them, collects the facts that decide the price, and deletes
 * fields that are not listed here, so that no unknown field reaches an upstream.
 */
import { isObject } from '../../../platform/lib/is-object.ts'
import type { JsonObject } from '../../providers/contract.ts'
import { keepFields } from '../field-faults.ts'
import { fileKindOf, imageKindOf } from '../../media-of-part.ts'

export interface MessageFacts {
  imageCount: number
  /** Base64 characters of images. Images are billed per image, not per byte. */
  imageBytes: number
  /** At least one image is given by an http(s) address instead of its data. */
  hasImageAddresses: boolean
  /** Documents or audio. Only the model's context bounds their tokens. */
  hasFiles: boolean
  /** The documents that are given by an http(s) address. */
  fileAddressCount: number
  hasAudio: boolean
  /** A content part or a tool carries `cache_control`. */
  hasCacheControl: boolean
  /** A `cache_control` asks for a lifetime of one hour, which costs more to write. */
  cachesForAnHour: boolean
}

const ROLES: ReadonlySet<string> = new Set([
  'system',
  'developer',
  'user',
  'assistant',
  'tool',
  'function',
])
export const MESSAGE_FIELDS: ReadonlySet<string> = new Set([
  'role',
  'content',
  'name',
  'tool_calls',
  'tool_call_id',
  'function_call',
  'refusal',
  'reasoning_content',
  'reasoning',
  'reasoning_details',
  'extra_content',
  'prefix',
])
/**
 * The fields of each type of part. An upstream may ignore the type and read the field of another type, so each type has
 * a set of its own.
 */
export const PART_FIELDS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['text', new Set(['type', 'text', 'cache_control'])],
  ['refusal', new Set(['type', 'refusal'])],
  ['image_url', new Set(['type', 'image_url', 'cache_control'])],
  ['file', new Set(['type', 'file', 'cache_control'])],
])
export const ADDRESS_RULE = 'deve ser um endereço http(s) público.'
export const IMAGE_RULE =
  'deve ser um endereço http(s) público ou uma imagem PNG, JPEG, GIF ou WebP em base64 (data:image/png;base64,...).'
export const IMAGE_FIELDS: ReadonlySet<string> = new Set(['url', 'detail'])
const DETAILS: ReadonlySet<unknown> = new Set(['auto', 'low', 'high'])
export const FILE_FIELDS: ReadonlySet<string> = new Set(['filename', 'file_data'])

const FILE_RULE =
  'deve ser um documento em base64 (data:application/pdf;base64,...) ou o endereço http(s) público de um; vídeo e outros tipos não têm preço aqui, e "file_id" não está disponível.'

/** Returns the facts of the messages, or their first fault in Portuguese. */
export function readMessages(messages: unknown): MessageFacts | string {
  if (!Array.isArray(messages) || messages.length === 0)
    return 'O campo "messages" é obrigatório e deve ser uma lista com pelo menos uma mensagem.'
  const facts: MessageFacts = {
    imageCount: 0,
    imageBytes: 0,
    hasImageAddresses: false,
    hasFiles: false,
    fileAddressCount: 0,
    hasAudio: false,
    hasCacheControl: false,
    cachesForAnHour: false,
  }
  for (let index = 0; index < messages.length; index++) {
    const fault = readMessage(messages[index], facts)
    if (fault !== undefined) return `messages[${index}]${fault}`
  }
  return facts
}

function readMessage(message: unknown, facts: MessageFacts): string | undefined {
  if (!isObject(message)) return ' deve ser um objeto com "role" e "content".'
  if (typeof message.role !== 'string' || !ROLES.has(message.role))
    return '.role deve ser system, user, assistant ou tool.'
  keepFields(MESSAGE_FIELDS, message)
  const { content } = message
  if (typeof content === 'string') return undefined
  if (content === null || content === undefined) {
    // An assistant message may consist of tool calls or a refusal alone.
    return message.role === 'assistant' ? undefined : '.content é obrigatório.'
  }
  if (!Array.isArray(content)) return '.content deve ser um texto ou uma lista de partes.'
  for (let index = 0; index < content.length; index++) {
    const fault = readPart(content[index], facts)
    if (fault !== undefined) return `.content[${index}]${fault}`
  }
  // Clients write a text as a list only while it carries a mark; the prompt of the next request begins like this one's.
  const [only] = content as JsonObject[]
  if (content.length === 1 && only?.type === 'text' && only.cache_control === undefined)
    message.content = only.text
  return undefined
}

function readPart(part: unknown, facts: MessageFacts): string | undefined {
  if (!isObject(part) || typeof part.type !== 'string') return ' deve ser um objeto com "type".'
  const fields = PART_FIELDS.get(part.type)
  if (!fields) return ': partes deste tipo não são aceitas aqui; use text, image_url ou file.'
  keepFields(fields, part)
  readCacheControl(part, facts)
  switch (part.type) {
    case 'text':
      return typeof part.text === 'string' ? undefined : '.text deve ser um texto.'
    case 'refusal':
      return undefined
    case 'image_url':
      return readImage(part.image_url, facts)
    default:
      return readFile(part.file, facts)
  }
}

function readImage(image: unknown, facts: MessageFacts): string | undefined {
  if (!isObject(image) || typeof image.url !== 'string') return '.image_url.url deve ser um texto.'
  const kind = imageKindOf(image.url)
  if (kind === undefined) return `.image_url.url ${IMAGE_RULE}`
  keepFields(IMAGE_FIELDS, image)
  if (!DETAILS.has(image.detail)) delete image.detail
  facts.imageCount += 1
  if (kind === 'address') {
    // The address as our parser reads it: an upstream's parser could find another host in the text.
    image.url = new URL(image.url).href
    facts.hasImageAddresses = true
  } else facts.imageBytes += image.url.length - image.url.indexOf(',') - 1
  return undefined
}

function readFile(file: unknown, facts: MessageFacts): string | undefined {
  if (!isObject(file)) return `.file.file_data ${FILE_RULE}`
  file.file_data ??= file.file_url
  const kind = fileKindOf(file)
  if (kind === undefined) return `.file.file_data ${FILE_RULE}`
  keepFields(FILE_FIELDS, file)
  facts.hasFiles = true
  if (kind === 'audio') facts.hasAudio = true
  if (kind === 'address') {
    file.file_data = new URL(file.file_data as string).href
    facts.fileAddressCount += 1
  }
  return undefined
}

/** Records the `cache_control` of a content part or a tool, reduced to the fields we know; deletes an invalid one. */
export function readCacheControl(carrier: JsonObject, facts: MessageFacts): void {
  const control = carrier.cache_control
  if (control === undefined) return
  if (!isObject(control) || control.type !== 'ephemeral') {
    delete carrier.cache_control
    return
  }
  const isForAnHour = control.ttl === '1h'
  carrier.cache_control = isForAnHour ? { type: 'ephemeral', ttl: '1h' } : { type: 'ephemeral' }
  facts.hasCacheControl = true
  if (isForAnHour) facts.cachesForAnHour = true
}
