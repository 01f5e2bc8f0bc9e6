import { randomUUID } from 'node:crypto'
import type { FormFile } from '../contract.ts'
import { withLineEnds } from '../../../platform/lib/with-line-ends.ts'

/** A form with one file. The bytes of the file go between `head` and `tail`. */
export interface MultipartForm {
  readonly contentType: string
  readonly head: Buffer
  readonly tail: Buffer
}

export interface MultipartFile {
  /** The name of the form field. */
  readonly field: string
  readonly name: string
  readonly mediaType: string
}

/** Encodes a `multipart/form-data` form as the HTML standard defines it, with the file last. */
export function createMultipartForm(
  fields: readonly (readonly [name: string, value: string])[],
  file: MultipartFile,
): MultipartForm {
  const boundary = newBoundary()
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    head: Buffer.from(textsOf(fields, boundary) + fileHead(file, boundary)),
    tail: Buffer.from(`\r\n--${boundary}--\r\n`),
  }
}

/** The same with any number of files that are in memory, which are not copied. */
export function writeForm(
  fields: readonly (readonly [name: string, value: string])[],
  files: readonly FormFile[],
): { readonly contentType: string; readonly bytes: number; readonly body: AsyncIterable<Buffer> } {
  const boundary = newBoundary()
  const parts = [
    Buffer.from(textsOf(fields, boundary)),
    ...files.flatMap((file) => [
      Buffer.from(fileHead(file, boundary)),
      file.bytes,
      Buffer.from('\r\n'),
    ]),
    Buffer.from(`--${boundary}--\r\n`),
  ]
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    bytes: parts.reduce((sum, { length }) => sum + length, 0),
    body: inOrder(parts),
  }
}

async function* inOrder(parts: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* parts
}

function fileHead(file: MultipartFile, boundary: string): string {
  return (
    `--${boundary}\r\nContent-Disposition: form-data; name="${fieldName(file.field)}"; ` +
    `filename="${escaped(file.name)}"\r\nContent-Type: ${mediaTypeOf(file)}\r\n\r\n`
  )
}

/** The same without a file. */
export function writeFields(fields: readonly (readonly [name: string, value: string])[]): {
  readonly contentType: string
  readonly body: string
} {
  const boundary = newBoundary()
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    body: `${textsOf(fields, boundary)}--${boundary}--\r\n`,
  }
}

function newBoundary(): string {
  return `catraca-${randomUUID()}`
}

function textsOf(
  fields: readonly (readonly [name: string, value: string])[],
  boundary: string,
): string {
  return fields
    .map(
      ([name, value]) =>
        `--${boundary}\r\nContent-Disposition: form-data; name="${fieldName(name)}"\r\n\r\n` +
        `${withLineEnds(value)}\r\n`,
    )
    .join('')
}

function fieldName(name: string): string {
  return escaped(withLineEnds(name))
}

/** The standard escapes exactly these three characters; all others are sent as UTF-8. */
function escaped(text: string): string {
  return text.replaceAll('\r', '%0D').replaceAll('\n', '%0A').replaceAll('"', '%22')
}

/** Prevents header injection by the customer's media type. */
function mediaTypeOf({ mediaType }: MultipartFile): string {
  return /^[\x20-\x7e]+$/.test(mediaType) ? mediaType : 'application/octet-stream'
}
