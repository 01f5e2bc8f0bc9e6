/**
 * Recognises the images and files of a chat. Their kind decides their price, so the media type and the first bytes
 * must agree, and media without a price is refused. Pure.
 */
import { isObject } from '../platform/lib/is-object.ts'
import { isOpenPort, isPublicHost } from '../platform/lib/public-address.ts'
import { imageTypeOf, isSound, isVideo } from '../platform/lib/media-signature.ts'

/** The inspected part of a data URL: its header, and enough of the content to recognise the format. */
const HEAD_CHARACTERS = 200
const SNIFFED_CHARACTERS = 64

const IMAGE_TYPES: ReadonlySet<string> = new Set([
  'image/png',
  'image/jpeg',
  'image/jpg',
  'image/gif',
  'image/webp',
])
/** Upstreams read these as text and pages, so the model's context bounds their tokens. */
const DOCUMENT_TYPES: ReadonlySet<string> = new Set([
  'application/pdf',
  'application/json',
  'application/xml',
  'application/rtf',
  'application/msword',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  'application/vnd.openxmlformats-officedocument.presentationml.presentation',
])

export type ImageKind = 'data' | 'address'
/** What is at an address is known after the download: a document, or the call is refused. */
export type FileKind = 'document' | 'audio' | 'address'

/** Whether an `image_url` carries its image as data or as an address; undefined if the image cannot be priced. */
export function imageKindOf(url: string): ImageKind | undefined {
  if (isDataUrl(url)) {
    const data = readDataUrl(url)
    return data && IMAGE_TYPES.has(data.type) && imageTypeOf(data.head) ? 'data' : undefined
  }
  return isPublicUrl(url) ? 'address' : undefined
}

/** Returns the kind of the `file` of a content part; undefined if it cannot be priced. */
export function fileKindOf(file: unknown): FileKind | undefined {
  const url = isObject(file) ? file.file_data : undefined
  if (typeof url !== 'string') return undefined
  if (!isDataUrl(url)) return isPublicUrl(url) ? 'address' : undefined
  const data = readDataUrl(url)
  if (!data) return undefined
  const { type, head } = data
  if (type.startsWith('audio/')) return isVideo(head) ? undefined : 'audio'
  if (IMAGE_TYPES.has(type)) return imageTypeOf(head) ? 'document' : undefined
  const isDocument = DOCUMENT_TYPES.has(type) || type.startsWith('text/')
  return isDocument && !isSound(head) && !isVideo(head) ? 'document' : undefined
}

/**
 * Returns the address of an `input_file` of Responses, as it was written; undefined if it has data. Some clients write it
 * in the place of the data, which is base64 here.
 */
export function addressOfInputFile({
  file_data: data,
  file_url: url,
}: Record<string, unknown>): string | undefined {
  if (typeof data === 'string') return /^\s*https?:/i.test(data) ? data : undefined
  return typeof url === 'string' ? url : undefined
}

/** The same rules as for webhooks: an upstream of the operator's network opens no address of that network. */
export function isPublicUrl(text: string): boolean {
  const url = URL.parse(text)
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') return false
  const hasCredentials = url.username !== '' || url.password !== ''
  return !hasCredentials && isOpenPort(url.port) && isPublicHost(url.hostname)
}

function isDataUrl(url: string): boolean {
  return /^data:/i.test(url)
}

/** Base64 only, because every upstream decodes it the same way. */
function readDataUrl(url: string): { type: string; head: Buffer } | undefined {
  const match = /^data:([a-z]+\/[a-z0-9.+-]+)(?:;[^;,]*)*?;base64,/i.exec(
    url.slice(0, HEAD_CHARACTERS),
  )
  if (!match) return undefined
  const begin = match[0].length
  return {
    type: (match[1] as string).toLowerCase(),
    head: Buffer.from(url.slice(begin, begin + SNIFFED_CHARACTERS), 'base64'),
  }
}
