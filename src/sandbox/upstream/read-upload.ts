import { Busboy, type BusboyHeaders } from '@fastify/busboy'
import type { IncomingMessage } from 'node:http'
import { BadRequest } from './bad-request.ts'
import { createAudioMeter, type AudioMeter } from './measure-audio.ts'

export type FormField = readonly [name: string, value: string]

export type UploadEnd =
  | {
      readonly kind: 'whole'
      readonly fields: readonly FormField[]
      /** Undefined where there is no part `file` with the name of a file. */
      readonly file: AudioMeter | undefined
    }
  /** `wantsFile` said no; the rest of the request is thrown away as it comes. */
  | { readonly kind: 'unwanted' }
  /** The client left while sending. */
  | { readonly kind: 'left' }

const LIMITS = { fields: 64, fieldSize: 65_536, files: 8, headerPairs: 32, headerSize: 16_384 }

/**
 * Reads a multipart form with a file in it, of any length in little memory. Rejects with `BadRequest`,
 * also with what `wantsFile` throws: that is asked when the file begins, with the fields before it, so
 * that nobody has to send a file which is refused anyway.
 */
export function readUpload(
  request: IncomingMessage,
  wantsFile: (fields: readonly FormField[]) => boolean,
): Promise<UploadEnd> {
  return new Promise((resolve, reject) => {
    const form = openForm(request)
    const fields: FormField[] = []
    let file: AudioMeter | undefined

    /** Throws the rest away, which keeps the connection usable and the client from waiting. */
    function stopReading(): void {
      request.unpipe(form)
      request.resume()
    }
    function fail(error: unknown): void {
      stopReading()
      reject(error)
    }

    form.on('field', (name, value, _isNameTruncated, isTruncated) => {
      if (isTruncated) fail(new BadRequest(`Invalid '${name}': string too long.`, name, null))
      else fields.push([name, value])
    })
    form.on('file', (name, stream) => {
      // What breaks a part breaks the form, and is told there.
      stream.on('error', () => {})
      if (name !== 'file' || file !== undefined) return void stream.resume()
      try {
        if (!wantsFile(fields)) {
          stopReading()
          return resolve({ kind: 'unwanted' })
        }
      } catch (error) {
        return fail(error)
      }
      const meter = createAudioMeter()
      file = meter
      stream.on('data', (part: Buffer) => meter.push(part))
    })
    form.on('error', () => fail(unreadable()))
    form.on('finish', () => resolve({ kind: 'whole', fields, file }))
    request.on('close', () => {
      // Of a request that came whole, the form tells the end, and that may be a little later.
      if (!request.complete) resolve({ kind: 'left' })
    })
    request.pipe(form)
  })
}

function openForm(request: IncomingMessage): ReturnType<typeof Busboy> {
  const type = request.headers['content-type']
  try {
    if (type?.toLowerCase().startsWith('multipart/form-data') !== true) throw unreadable()
    return new Busboy({ headers: request.headers as BusboyHeaders, limits: LIMITS })
  } catch {
    request.resume()
    throw unreadable()
  }
}

function unreadable(): BadRequest {
  return new BadRequest('Could not parse multipart form', null, null)
}
