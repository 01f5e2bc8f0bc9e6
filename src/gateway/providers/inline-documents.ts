import { isObject } from '../../platform/lib/is-object.ts'
import { imageTypeOf } from '../../platform/lib/media-signature.ts'
import { fileKindOf } from '../media-of-part.ts'
import type { ChatCall, ChatContent, InlinedDocument, JsonObject } from './contract.ts'
import {
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

/**
 * Downloads the documents of a chat that are given by their addresses, and puts them in their places, as if the client
 * had sent them: no upstream opens the address of a document, because it might find a sound or a video there, which have
 * other prices. Rejects with a `DocumentRefused`, or as `DownloadFile` does.
 */
export async function inlineDocuments(call: ChatCall, download: DownloadFile): Promise<ChatCall> {
  if (!call.hasFiles) return call
  const documents = new Map<string, InlinedDocument>()
  let bytes = 0
  const body = await mapParts(call.body, (part) => {
    const file = isObject(part) && part.type === 'file' ? part.file : undefined
    const data = isObject(file) ? file.file_data : undefined
    const isThere = typeof data !== 'string' || /^data:/i.test(data)
    return isThere ? undefined : inline(part as JsonObject, data)
  })

  async function inline(part: JsonObject, address: string): Promise<JsonObject> {
    const document = await downloadDocument(address, download)
    bytes += document.url.length
    documents.set(address, document)
    const { filename = document.filename } = part.file as JsonObject
    return { ...part, file: { filename, file_data: document.url } }
  }

  if (documents.size === 0) return call
  call.memo.documentBytes = bytes
  // This text gets its own memo: each try downloads the documents again.
  return { ...call, body, documents, memo: {} }
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
  const url = `data:${type};base64,${file.body.toString('base64')}`
  if (fileKindOf({ file_data: url }) !== 'document')
    throw new DocumentRefused('the address of a file does not lead to a document')
  return { type, url, filename: `document.${endingOf(type)}` }
}

/** By the first bytes, else by the host's word, else by the ending of the address. */
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
