import { isUtf8 } from 'node:buffer'
import type { TakeBytes } from '../../platform/admission/share.ts'
import { isObject } from '../../platform/lib/is-object.ts'
import { imageTypeOf } from '../../platform/lib/media-signature.ts'
import { fileKindOf } from '../media-of-part.ts'
import type { ChatContent, InlinedDocument, JsonObject } from './contract.ts'
import {
  createDownloadFile,
  DocumentRefused,
  DownloadRefused,
  type DownloadedFile,
  type DownloadFile,
} from './download-file.ts'
import { mapParts } from './map-parts.ts'

/** The first of a type is the ending of its file's name. */
const TYPES: readonly (readonly [ending: string, type: string])[] = [
  ['pdf', 'application/pdf'],
  ['docx', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
  ['xlsx', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
  ['pptx', 'application/vnd.openxmlformats-officedocument.presentationml.presentation'],
  ['doc', 'application/msword'],
  ['rtf', 'application/rtf'],
  ['json', 'application/json'],
  ['xml', 'application/xml'],
  ['txt', 'text/plain'],
  ['md', 'text/markdown'],
  ['csv', 'text/csv'],
  ['html', 'text/html'],
  ['png', 'image/png'],
  ['jpg', 'image/jpeg'],
  ['gif', 'image/gif'],
  ['webp', 'image/webp'],
]
/** What hosts of files say of those that they do not know. */
const UNKNOWN_TYPES: ReadonlySet<string> = new Set([
  'application/octet-stream',
  'binary/octet-stream',
  'application/x-download',
])

/** The most bytes of all documents of a request. */
const BYTES_MAX = 20 * 1024 * 1024
/** No context has a longer text. */
const TEXT_BYTES_MAX = 4 * 1024 * 1024
/** Base64, in which a document is kept, is longer than its bytes. */
const BASE64_FACTOR = 4 / 3

export interface InlinedDocuments {
  readonly body: JsonObject
  readonly documents: ReadonlyMap<string, InlinedDocument>
  /** The characters of the documents, in base64. */
  readonly documentBytes: number
}

/** Returns the download of the documents of one request; `takeBytes` counts what is kept of them. */
export function createDownloadDocument(signal: AbortSignal, takeBytes: TakeBytes): DownloadFile {
  const take: TakeBytes = (bytes) => takeBytes(Math.ceil(bytes * BASE64_FACTOR))
  return createDownloadFile(signal, false, take, BYTES_MAX)
}

/**
 * Downloads the documents of a chat that are given by their addresses, and puts them in their places, as if the client
 * had sent them: no upstream opens the address of a document, because it might find a sound or a video there, which have
 * other prices. Rejects with a `DocumentRefused`, or as `DownloadFile` does.
 */
export async function inlineDocuments(
  body: JsonObject,
  download: DownloadFile,
): Promise<InlinedDocuments> {
  const documents = new Map<string, InlinedDocument>()
  let documentBytes = 0
  const inlined = await mapParts(body, (part) => {
    const file = isObject(part) && part.type === 'file' ? part.file : undefined
    const data = isObject(file) ? file.file_data : undefined
    const isThere = typeof data !== 'string' || /^data:/i.test(data)
    return isThere ? undefined : inline(part as JsonObject, data)
  })

  async function inline(part: JsonObject, address: string): Promise<JsonObject> {
    // One that is named twice is sent twice, so it is downloaded, and counted, twice.
    const document = await downloadDocument(address, download)
    documentBytes += document.url.length
    documents.set(address, document)
    const { filename = document.filename } = part.file as JsonObject
    return { ...part, file: { filename, file_data: document.url } }
  }

  return { body: inlined, documents, documentBytes }
}

/** Returns the document at an address of a request's native form. */
export function inlinedDocument(
  { documents }: Pick<ChatContent, 'documents'>,
  address: string,
): InlinedDocument {
  const document = documents?.get(new URL(address).href)
  if (!document) throw new DocumentRefused('a document was not downloaded')
  return document
}

async function downloadDocument(address: string, download: DownloadFile): Promise<InlinedDocument> {
  const file = await download(address).catch((error: unknown) => {
    throw error instanceof DownloadRefused ? new DocumentRefused(error.message) : error
  })
  const type = typeOf(file, address)
  if (isTextType(type) && !isPlainText(file.body))
    throw new DocumentRefused('the text at an address is too long, or no text')
  const url = `data:${type};base64,${file.body.toString('base64')}`
  if (fileKindOf({ file_data: url }) !== 'document')
    throw new DocumentRefused('the address of a file does not lead to a document')
  return { type, url, filename: `document.${endingOf(type)}` }
}

/** Whether a document of this type is sent as a text. */
export function isTextType(type: string): boolean {
  return /^(?:text\/|application\/(?:json|xml)$)/.test(type)
}

/** Whether the bytes are a text without control characters, each of which takes six bytes in JSON. */
function isPlainText(bytes: Buffer): boolean {
  return (
    bytes.length <= TEXT_BYTES_MAX &&
    isUtf8(bytes) &&
    bytes.every((byte) => byte >= 0x20 || (byte >= 0x09 && byte <= 0x0d))
  )
}

/** The type by the first bytes, else by the header of the host, else by the ending of the address. */
function typeOf({ mediaType, body }: DownloadedFile, address: string): string {
  const image = imageTypeOf(body)
  if (image !== undefined) return image
  if (body.toString('latin1', 0, 4) === '%PDF') return 'application/pdf'
  if (!UNKNOWN_TYPES.has(mediaType)) return mediaType
  const ending = /\.([a-z]+)$/i.exec(new URL(address).pathname)?.[1]?.toLowerCase()
  return TYPES.find(([known]) => known === ending)?.[1] ?? mediaType
}

/** The name of a file is not taken from its address, which the shield does not read. */
function endingOf(type: string): string {
  return TYPES.find(([, known]) => known === type)?.[0] ?? 'txt'
}
