import type {
  LanguageModelV4FilePart,
  LanguageModelV4TextPart,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider'
import { isObject } from '../../../platform/lib/is-object.ts'
import type { JsonObject } from '../contract.ts'
import type { FileContent, FileKind } from './read-file.ts'
import { RefusedRequest } from './to-failure.ts'

export type UserPart = LanguageModelV4TextPart | LanguageModelV4FilePart

type ReadContent = (url: string, kind: FileKind) => Promise<FileContent>

/** Converts the content of a user's message. Rejects with a `RefusedRequest` for parts that cannot be read. */
export async function toUserParts(content: unknown, readFile: ReadContent): Promise<UserPart[]> {
  if (typeof content === 'string') return isBlank(content) ? [] : [{ type: 'text', text: content }]
  const parts: UserPart[] = []
  // Sequentially, because the downloads of one request share a limit.
  for (const part of listParts(content).filter(isSaid)) {
    parts.push({ ...(await toUserPart(part, readFile)), ...readCacheControl(part) })
  }
  return parts
}

/** Returns the parts of a content list; absent content has none. */
export function listParts(content: unknown): JsonObject[] {
  if (content === undefined || content === null) return []
  if (!Array.isArray(content) || !content.every(isObject)) {
    throw new RefusedRequest('a content is neither a text nor a list of parts')
  }
  return content
}

/**
 * Whether a text is empty or white space: upstreams refuse a request with an empty text, and some with one of white
 * space.
 */
export function isBlank(text: string): boolean {
  return text.trim() === ''
}

/** Whether a part says something; one with a blank text does not. */
export function isSaid({ type, text }: JsonObject): boolean {
  return type !== 'text' || typeof text !== 'string' || !isBlank(text)
}

async function toUserPart(part: JsonObject, readFile: ReadContent): Promise<UserPart> {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: textOf(part.text) }
    case 'image_url': {
      const url = isObject(part.image_url) ? part.image_url.url : part.image_url
      return { type: 'file', ...(await readFile(textOf(url), 'image')) }
    }
    case 'file':
      return toFilePart(part.file, readFile)
    case 'input_audio':
      return toAudioPart(part.input_audio)
    default:
      throw new RefusedRequest('a content part of an unknown type')
  }
}

async function toFilePart(file: unknown, readFile: ReadContent): Promise<LanguageModelV4FilePart> {
  if (!isObject(file) || typeof file.file_data !== 'string') {
    throw new RefusedRequest('a file without its data')
  }
  const content = await readFile(file.file_data, 'document')
  return typeof file.filename === 'string'
    ? { type: 'file', filename: file.filename, ...content }
    : { type: 'file', ...content }
}

function toAudioPart(audio: unknown): LanguageModelV4FilePart {
  if (!isObject(audio) || (audio.format !== 'wav' && audio.format !== 'mp3')) {
    throw new RefusedRequest('audio of an unknown format')
  }
  const mediaType = audio.format === 'wav' ? 'audio/wav' : 'audio/mpeg'
  return { type: 'file', mediaType, data: { type: 'data', data: textOf(audio.data) } }
}

export function textOf(value: unknown): string {
  if (typeof value !== 'string') throw new RefusedRequest('a text is missing in the request')
  return value
}

/**
 * Returns the `cache_control` of a content part or a tool, as options to spread into the converted part or tool. A
 * lifetime of one hour costs more to write; the gateway passes it only if the model has a price for it.
 */
export function readCacheControl(carrier: JsonObject): {
  providerOptions?: SharedV4ProviderOptions
} {
  if (!isObject(carrier.cache_control) || carrier.cache_control.type !== 'ephemeral') return {}
  const life = carrier.cache_control.ttl === '1h' ? { ttl: '1h' as const } : {}
  return {
    providerOptions: {
      anthropic: { cacheControl: { type: 'ephemeral', ...life } },
      amazonBedrock: { cachePoint: { type: 'default', ...life } },
    },
  }
}
