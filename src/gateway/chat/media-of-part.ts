/**
 * What the images and files of a chat are. Their kind decides their price, so it is told by the media
 * type and by the first bytes, and what has no price does not pass. Pure.
 */
import { isObject } from '../../lib/is-object.ts'
import { imageTypeOf, isSound, isVideo } from '../../lib/media-signature.ts'

/** What of a data URL is looked at: its head, and enough of the content to know it by. */
const HEAD_CHARACTERS = 200
const SNIFFED_CHARACTERS = 64

const IMAGE_TYPES: ReadonlySet<string> = new Set([
  'image/png',
  'image/jpeg',
  'image/jpg',
  'image/gif',
  'image/webp',
])
/** Read as text and pages, which the context of the model bounds. */
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
export type FileKind = 'document' | 'sound'

/** How an `image_url` gives its image; undefined where it is none that can be priced. */
export function imageKindOf(url: string): ImageKind | undefined {
  if (isDataUrl(url)) {
    const data = readDataUrl(url)
    return data && IMAGE_TYPES.has(data.type) && imageTypeOf(data.head) ? 'data' : undefined
  }
  const protocol = URL.canParse(url) ? new URL(url).protocol : ''
  return protocol === 'https:' || protocol === 'http:' ? 'address' : undefined
}

/** What the `file` of a part is; undefined where it is none that can be priced. */
export function fileKindOf(file: unknown): FileKind | undefined {
  const url = isObject(file) ? file.file_data : undefined
  const data = typeof url === 'string' ? readDataUrl(url) : undefined
  if (!data) return undefined
  const { type, head } = data
  if (type.startsWith('audio/')) return isVideo(head) ? undefined : 'sound'
  if (IMAGE_TYPES.has(type)) return imageTypeOf(head) ? 'document' : undefined
  const isDocument = DOCUMENT_TYPES.has(type) || type.startsWith('text/')
  return isDocument && !isSound(head) && !isVideo(head) ? 'document' : undefined
}

function isDataUrl(url: string): boolean {
  return /^data:/i.test(url)
}

/** Base64 only: it is the form that every upstream reads alike. */
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
