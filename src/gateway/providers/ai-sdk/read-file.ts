import type { LanguageModelV4, LanguageModelV4FilePart } from '@ai-sdk/provider'
import { imageTypeOf } from '../../../platform/lib/media-signature.ts'
import { DownloadRefused, type DownloadFile } from '../download-file.ts'
import { RefusedRequest } from './to-failure.ts'

export type FileContent = Pick<LanguageModelV4FilePart, 'data' | 'mediaType'>

/** The kind of a file, as declared by the request; documents are here, those at addresses too (`inline-documents.ts`). */
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

/**
 * Creates the file reader of one request. Addresses of images that the model can open are passed on; others are
 * downloaded, and so is every one for a model that may open the same address as a video or a document: the hold covers an
 * image. Only http and https are allowed, because upstreams would open other schemes with their own credentials. Rejects
 * with a `RefusedRequest`, or as `DownloadFile` does.
 */
export function createReadFile(opened: OpenedAddresses, downloadFile: DownloadFile): ReadFile {
  async function download(url: URL): Promise<FileContent> {
    const { body } = await downloadFile(url.href)
    // The type by the bytes, not by the host's header: images, documents and audio have different prices.
    const mediaType = imageTypeOf(body)
    if (mediaType === undefined)
      throw new DownloadRefused('the address of an image does not lead to an image')
    return { data: { type: 'data', data: body }, mediaType }
  }

  async function read(
    text: string,
    kind: FileKind,
    urls: Awaited<LanguageModelV4['supportedUrls']>,
  ): Promise<FileContent> {
    if (/^data:/i.test(text)) return readDataUrl(text)
    const url = kind === 'image' ? URL.parse(text) : null
    if (url?.protocol !== 'https:' && url?.protocol !== 'http:') {
      throw new RefusedRequest('a file is neither a data URL nor an http address')
    }
    const ending = /\.([a-z]+)$/i.exec(url.pathname)?.[1]?.toLowerCase() ?? ''
    // The hold covers an image, so the file must be passed on as an image, whatever the ending of its address.
    const mediaType = IMAGE_OF_ENDING[ending] ?? 'image/*'
    return opened.opensOnlyImages && isSupported(urls, url.href, mediaType)
      ? { data: { type: 'url', url }, mediaType }
      : download(url)
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
