/**
 * Reads the messages of a chat in one walk: checks them, tells what decides their price, and takes out
 * of them what is on no list here, so that no field that nobody knows reaches an upstream.
 */
import { isObject } from '../../lib/is-object.ts'
import type { JsonObject } from '../../providers/contract.ts'
import { keepFields } from '../field-faults.ts'
import { fileKindOf, imageKindOf } from './media-of-part.ts'

export interface MessageFacts {
  imageCount: number
  /** Characters of the base64 of images: they cost by the image, not by the byte. */
  imageBytes: number
  /** Documents and sound: what they cost is bounded by the model's context alone. */
  hasFiles: boolean
  hasSound: boolean
  /** A part or a tool carries `cache_control`. */
  hasCacheMarks: boolean
  /** One of them asks for the life of an hour, which costs more to write. */
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
const MESSAGE_FIELDS: ReadonlySet<string> = new Set([
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
const PART_FIELDS: ReadonlySet<string> = new Set([
  'type',
  'text',
  'refusal',
  'image_url',
  'file',
  'cache_control',
])
const IMAGE_FIELDS: ReadonlySet<string> = new Set(['url', 'detail'])
const DETAILS: ReadonlySet<unknown> = new Set(['auto', 'low', 'high'])
const FILE_FIELDS: ReadonlySet<string> = new Set(['filename', 'file_data'])

/** The facts, or the first fault, told in Portuguese. */
export function readMessages(messages: unknown): MessageFacts | string {
  if (!Array.isArray(messages) || messages.length === 0)
    return 'O campo "messages" é obrigatório e deve ser uma lista com pelo menos uma mensagem.'
  const facts: MessageFacts = {
    imageCount: 0,
    imageBytes: 0,
    hasFiles: false,
    hasSound: false,
    hasCacheMarks: false,
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
    // An assistant turn may hold only tool calls or a refusal.
    return message.role === 'assistant' ? undefined : '.content é obrigatório.'
  }
  if (!Array.isArray(content)) return '.content deve ser um texto ou uma lista de partes.'
  for (let index = 0; index < content.length; index++) {
    const fault = readPart(content[index], facts)
    if (fault !== undefined) return `.content[${index}]${fault}`
  }
  return undefined
}

function readPart(part: unknown, facts: MessageFacts): string | undefined {
  if (!isObject(part) || typeof part.type !== 'string') return ' deve ser um objeto com "type".'
  keepFields(PART_FIELDS, part)
  readCacheMark(part, facts)
  switch (part.type) {
    case 'text':
      return typeof part.text === 'string' ? undefined : '.text deve ser um texto.'
    case 'refusal':
      return undefined
    case 'image_url':
      return readImage(part.image_url, facts)
    case 'file':
      return readFile(part.file, facts)
    default:
      return ': partes deste tipo não são aceitas aqui; use text, image_url ou file.'
  }
}

function readImage(image: unknown, facts: MessageFacts): string | undefined {
  if (!isObject(image) || typeof image.url !== 'string') return '.image_url.url deve ser um texto.'
  const kind = imageKindOf(image.url)
  if (kind === undefined)
    return '.image_url.url deve ser um endereço http(s) ou uma imagem PNG, JPEG, GIF ou WebP em base64 (data:image/png;base64,...).'
  keepFields(IMAGE_FIELDS, image)
  if (!DETAILS.has(image.detail)) delete image.detail
  facts.imageCount += 1
  if (kind === 'data') facts.imageBytes += image.url.length - image.url.indexOf(',') - 1
  return undefined
}

function readFile(file: unknown, facts: MessageFacts): string | undefined {
  const kind = fileKindOf(file)
  if (kind === undefined)
    return '.file.file_data deve ser um documento em base64 (data:application/pdf;base64,...); vídeo e outros tipos não têm preço aqui.'
  keepFields(FILE_FIELDS, file as JsonObject)
  facts.hasFiles = true
  if (kind === 'sound') facts.hasSound = true
  return undefined
}

/** Notes the mark of a part or of a tool; one that is not sound is taken out. */
export function readCacheMark(carrier: JsonObject, facts: MessageFacts): void {
  const mark = carrier.cache_control
  if (mark === undefined) return
  if (!isObject(mark) || mark.type !== 'ephemeral') {
    delete carrier.cache_control
    return
  }
  const isForAnHour = mark.ttl === '1h'
  carrier.cache_control = isForAnHour ? { type: 'ephemeral', ttl: '1h' } : { type: 'ephemeral' }
  facts.hasCacheMarks = true
  if (isForAnHour) facts.cachesForAnHour = true
}
