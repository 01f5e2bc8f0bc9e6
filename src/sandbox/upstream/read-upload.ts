import { Busboy, type BusboyHeaders } from '@fastify/busboy'
import type { IncomingMessage } from 'node:http'
import { BadRequest } from './read-field.ts'
import { createAudioMeter, type AudioMeter } from './measure-audio.ts'

export type FormField = readonly [name: string, value: string]

export type UploadEnd =
  | {
      readonly kind: 'whole'
      readonly fields: readonly FormField[]
      /** Undefined if there is no part `file` with a file name. */
      readonly file: AudioMeter | undefined
    }
  /** `wantsFile` returned false; the rest of the request is discarded as it arrives. */
  | { readonly kind: 'unwanted' }
  /** The client left while sending. */
  | { readonly kind: 'left' }

const LIMITS = { fields: 64, fieldSize: 65_536, files: 8, headerPairs: 32, headerSize: 16_384 }

/**
 * Reads a multipart form with a file of any length in little memory. Rejects with `BadRequest`, and with any error that
 * `wantsFile` throws. `wantsFile` is called when the file begins, with the fields before it, so that a client does not
 * have to send a file that is refused anyway.
 */
export function readUpload(
  request: IncomingMessage,
  wantsFile: (fields: readonly FormField[]) => boolean,
): Promise<UploadEnd> {
  return new Promise((resolve, reject) => {
    const form = openForm(request)
    const fields: FormField[] = []
    let file: AudioMeter | undefined

    /** Discards the rest, so that the connection stays usable and the client does not wait. */
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
      // An error in a part also fails the form, which reports it.
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
      // For a complete request, the form reports the end, which may be a little later.
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
