import type { LanguageModelV4, LanguageModelV4FilePart } from '@ai-sdk/provider'
import { imageTypeOf, isSound, isVideo } from '../../../platform/lib/media-signature.ts'
import type { ChatCall } from '../contract.ts'
import { createDownloadFile } from '../download-file.ts'
import { RefusedRequest } from './to-failure.ts'

export type FileContent = Pick<LanguageModelV4FilePart, 'data' | 'mediaType'>

/** The kind of a file, as declared by the request. */
export type FileKind = 'image' | 'document'

export interface ReadFile {
  /** Returns the file as data, or as a URL if the model can open it. */
  (url: string, kind: FileKind): Promise<FileContent>
  /** Returns the file as data. For tool results, because the packages would open URLs themselves, also private ones. */
  readonly data: (url: string, kind: FileKind) => Promise<FileContent>
}

export interface OpenedAddresses {
  /** The addresses that the model opens itself, by media type. */
  readonly addresses: Awaited<LanguageModelV4['supportedUrls']>
  /** Whether it opens the address of an image as an image or refuses it. */
  readonly opensOnlyImages: boolean
}

const IMAGE_OF_ENDING: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
}
const DOCUMENT_OF_ENDING: Readonly<Record<string, string>> = { pdf: 'application/pdf' }

/**
 * Creates the file reader of one request. Addresses that the model can open are passed on; other files are downloaded,
 * and so is every image for a model that may open the same address as a video or a document: the hold covers an image.
 * Only http and https are allowed, because upstreams would open other schemes with their own credentials. Rejects with
 * a `RefusedRequest`, or as `createDownloadFile` does.
 */
export function createReadFile(
  opened: OpenedAddresses,
  allowPrivate: boolean,
  signal: AbortSignal,
  takeBytes: ChatCall['takeBytes'],
): ReadFile {
  const downloadFile = createDownloadFile(signal, allowPrivate, takeBytes)

  async function download(url: URL, kind: FileKind): Promise<FileContent> {
    const { mediaType, body } = await downloadFile(url.href)
    return { data: { type: 'data', data: body }, mediaType: downloadedType(mediaType, body, kind) }
  }

  async function read(
    text: string,
    kind: FileKind,
    urls: Awaited<LanguageModelV4['supportedUrls']>,
  ): Promise<FileContent> {
    if (/^data:/i.test(text)) return readDataUrl(text)
    const url = URL.canParse(text) ? new URL(text) : undefined
    if (url?.protocol !== 'https:' && url?.protocol !== 'http:') {
      throw new RefusedRequest('a file is neither a data URL nor an http address')
    }
    const ending = /\.([a-z]+)$/i.exec(url.pathname)?.[1]?.toLowerCase() ?? ''
    // The hold covers an image, so the file must be passed on as an image, whatever the ending of its address.
    const mediaType =
      kind === 'image' ? (IMAGE_OF_ENDING[ending] ?? 'image/*') : DOCUMENT_OF_ENDING[ending]
    if (mediaType === undefined) return download(url, kind)
    const mayPassOn = kind === 'document' || opened.opensOnlyImages
    return mayPassOn && isSupported(urls, url.href, mediaType)
      ? { data: { type: 'url', url }, mediaType }
      : download(url, kind)
  }

  return Object.assign((url: string, kind: FileKind) => read(url, kind, opened.addresses), {
    data: (url: string, kind: FileKind) => read(url, kind, {}),
  })
}

function readDataUrl(url: string): FileContent {
  const comma = url.indexOf(',')
  const [type = '', ...parameters] = url.slice('data:'.length, comma).toLowerCase().split(';')
  if (comma === -1 || !/^[a-z]+\/[^/]+$/.test(type)) {
    throw new RefusedRequest('a data URL has no media type')
  }
  const data = url.slice(comma + 1)
  return {
    mediaType: parameters.includes('base64') ? imageTypeIn(data, type) : type,
    data: { type: 'data', data: parameters.includes('base64') ? data : percentDecoded(data) },
  }
}

const HEAD_CHARACTERS = 64

/** Upstreams refuse an image that is of another type than the request says. */
function imageTypeIn(base64: string, type: string): string {
  if (!type.startsWith('image/')) return type
  const found = imageTypeOf(Buffer.from(base64.slice(0, HEAD_CHARACTERS), 'base64'))
  // Some upstreams accept only `image/jpeg`.
  return found ?? (type === 'image/jpg' ? 'image/jpeg' : type)
}

function percentDecoded(text: string): Buffer {
  try {
    return Buffer.from(decodeURIComponent(text))
  } catch {
    throw new RefusedRequest('a data URL is not well-formed')
  }
}

/** Whether the model can open a URL of this type. A model that needs the exact type cannot if only `image/*` is known. */
function isSupported(
  supportedUrls: Readonly<Record<string, RegExp[]>>,
  url: string,
  mediaType: string,
): boolean {
  const isWhole = !mediaType.endsWith('/*')
  return Object.entries(supportedUrls).some(([pattern, urls]) => {
    const isOfType =
      pattern === mediaType ||
      (pattern === '*' && isWhole) ||
      (pattern.endsWith('/*') && mediaType.startsWith(pattern.slice(0, -1)))
    return isOfType && urls.some((expression) => expression.test(url))
  })
}

/** Decides the type by the bytes, not by the host's header: images, documents and audio have different prices. */
function downloadedType(mediaType: string, body: Buffer, kind: FileKind): string {
  const imageType = imageTypeOf(body)
  if (kind === 'image') {
    if (imageType === undefined)
      throw new RefusedRequest('the address of an image does not lead to an image')
    return imageType
  }
  const isDocument = mediaType === 'application/pdf' || mediaType.startsWith('text/')
  const isPdf = mediaType === 'application/octet-stream' && body.toString('latin1', 0, 4) === '%PDF'
  if ((!isDocument && !isPdf) || isSound(body) || isVideo(body))
    throw new RefusedRequest('the address of a file does not lead to a document')
  return isPdf ? 'application/pdf' : mediaType
}
