import { randomUUID } from 'node:crypto'
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
  const fileHead =
    `--${boundary}\r\nContent-Disposition: form-data; name="${fieldName(file.field)}"; ` +
    `filename="${escaped(file.name)}"\r\nContent-Type: ${mediaTypeOf(file)}\r\n\r\n`
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    head: Buffer.from(textsOf(fields, boundary) + fileHead),
    tail: Buffer.from(`\r\n--${boundary}--\r\n`),
  }
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
