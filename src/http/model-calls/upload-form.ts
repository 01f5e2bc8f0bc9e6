/**
 * Reads a multipart form and writes its file to the disk as it arrives: it is never held in memory, and it can
 * be sent to an upstream more than once. The file on the disk is unlinked from the start, so nothing of it
 * remains when this process ends, for whatever reason.
 */
import { randomUUID } from 'node:crypto'
import { mkdir, open, unlink, type FileHandle } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { Busboy } from '@fastify/busboy'
import { customerSubject } from '../../gateway/calls/limits.ts'
import { isRefusal, refusalOfExcess, refusals, type Refusal } from '../../gateway/calls/refusal.ts'
import { createShare, type Share } from '../../platform/admission/share.ts'
import { TOO_MANY_PARTS } from '../server/bounded-request.ts'
import { modelInPath } from '../server/request-head.ts'
import { discardBody } from '../server/discard-body.ts'
import type {
  IncomingForm,
  KeptFile,
  UploadForm,
} from '../../gateway/calls/transcriptions/transcription-request.ts'

export interface UploadLimits {
  readonly dir: string
  /** The limit for one file. */
  readonly fileBytesMax: number
  /** The limit for all files that wait on this node. One customer's may take a quarter, and at least one whole file. */
  readonly totalBytesMax: number
}

export interface Uploads {
  /** The form of a request; it is read on the first call. `bytesMax`: of its file, if that is less than of every file. */
  formOf(request: IncomingMessage, bytesMax?: number): IncomingForm
}

const FIELDS_MAX = 50
const FIELD_BYTES_MAX = 256 * 1024
const READ_BYTES = 64 * 1024

/** Reads uploaded forms. Files are written to `dir`; the fields stay in memory, and count in `memory`. */
export function createUploads(
  { dir, fileBytesMax, totalBytesMax }: UploadLimits,
  memory: Share,
): Uploads {
  const waiting = createShare({
    ownMax: Math.max(totalBytesMax / 4, fileBytesMax),
    allMax: totalBytesMax,
  })

  async function keep(
    customerId: string,
    part: Readable,
    name: string,
    mediaType: string,
  ): Promise<KeptFile> {
    const handle = await openNameless(dir)
    const held = waiting.open(customerSubject(customerId))
    const giveBack = (): void => {
      held[Symbol.dispose]()
      handle.close().catch(() => {})
    }
    try {
      for await (const chunk of part as AsyncIterable<Buffer>) {
        const excess = held.take(chunk.length)
        if (excess) throw new Unsound(refusalOfExcess(excess))
        await handle.appendFile(chunk)
      }
    } catch (error) {
      giveBack()
      throw error
    }
    return {
      name,
      mediaType,
      bytes: held.amount,
      async readInto(buffer, position) {
        const { bytesRead } = await handle.read(buffer, 0, buffer.length, position)
        return bytesRead
      },
      read: () => readFrom(handle),
      dispose: giveBack,
    }
  }

  /** The fields count until the file is disposed of. While the form is read, the longest possible field counts as well. */
  async function read(
    request: IncomingMessage,
    customerId: string,
    bytesMax: number,
  ): Promise<UploadForm | Refusal> {
    const subject = customerSubject(customerId)
    const longest = memory.take(subject, FIELD_BYTES_MAX)
    if (typeof longest === 'string') return refusalOfExcess(longest)
    const fields = memory.open(subject)
    const count = (bytes: number): Refusal | undefined => {
      const excess = fields.take(bytes)
      return excess && refusalOfExcess(excess)
    }
    let file: KeptFile | undefined
    try {
      const form = await readForm(request, bytesMax, count, (part, name, mediaType) =>
        keep(customerId, part, name, mediaType),
      )
      if (isRefusal(form) || !form.file) return form
      const kept = form.file
      file = {
        ...kept,
        dispose() {
          kept.dispose()
          fields[Symbol.dispose]()
        },
      }
      return { ...form, file }
    } finally {
      longest[Symbol.dispose]()
      if (!file) fields[Symbol.dispose]()
    }
  }

  return {
    formOf: (request, bytesMax = Infinity) => ({
      read: (customerId) => read(request, customerId, Math.min(bytesMax, fileBytesMax)),
    }),
  }
}

/**
 * Reads the file from its start. It does not use a Node stream: a destroyed stream closes the file descriptor
 * under its owner, and the owner would then close another file that got the same number meanwhile.
 */
async function* readFrom(handle: FileHandle): AsyncGenerator<Buffer> {
  for (let at = 0; ;) {
    const { bytesRead, buffer } = await handle.read(
      Buffer.allocUnsafeSlow(READ_BYTES),
      0,
      READ_BYTES,
      at,
    )
    if (bytesRead === 0) return
    at += bytesRead
    yield buffer.subarray(0, bytesRead)
  }
}

/** Accessible to this process's user alone, and unlinked from its folder at once. */
async function openNameless(dir: string): Promise<FileHandle> {
  await mkdir(dir, { recursive: true, mode: 0o700 })
  const path = join(dir, randomUUID())
  const handle = await open(path, 'wx+', 0o600)
  await unlink(path)
  return handle
}

async function readForm(
  request: IncomingMessage,
  fileBytesMax: number,
  count: (bytes: number) => Refusal | undefined,
  keep: (part: Readable, name: string, mediaType: string) => Promise<KeptFile>,
): Promise<UploadForm | Refusal> {
  const parser = openParser(request, fileBytesMax)
  if (!parser) return NO_FORM
  const fields: [string, string][] = []
  let kept: { part: Readable; file: Promise<KeptFile> } | undefined
  try {
    await new Promise<void>((resolve, reject) => {
      // The name is undefined if the part has none, although the type says otherwise.
      parser.on('field', (name: string | undefined, value, _isNameCut, isValueCut) => {
        if (name === undefined) return reject(new Unsound(NO_FORM))
        if (isValueCut)
          reject(new Unsound(refusals.invalidRequest(`O campo "${name}" é longo demais.`)))
        const refused = count(name.length + value.length)
        if (refused) return reject(new Unsound(refused))
        fields.push([name, value])
      })
      parser.on('fieldsLimit', () => reject(new Unsound(TOO_MANY_FIELDS)))
      parser.on('partsLimit', () => reject(new Unsound(TOO_MANY_FIELDS)))
      parser.on('file', (name, part, fileName, _encoding, mediaType) => {
        // Attached to every part at once: an error without a listener ends the process.
        part.on('error', (error) => reject(error instanceof Unsound ? error : new Unsound(NO_FORM)))
        if (name !== 'file' || kept) return void part.resume()
        part.on('limit', () => reject(new Unsound(refusals.payloadTooLarge(fileBytesMax))))
        kept = { part, file: keep(part, fileName, mediaType) }
        kept.file.catch(reject)
      })
      parser.on('error', () => reject(new Unsound(NO_FORM)))
      parser.on('finish', resolve)
      // A request also emits `close` after its end.
      request.once('close', () => {
        if (!request.complete) reject(new Unsound(NO_FORM))
      })
      request.once(TOO_MANY_PARTS, () =>
        reject(new Unsound(refusals.payloadTooLarge(fileBytesMax))),
      )
      request.pipe(parser)
    })
    return { file: await kept?.file, fields: withModelInPath(request, fields) }
  } catch (error) {
    // The rest of the request is read and discarded, so that the client can read the answer.
    request.unpipe(parser)
    discardBody(request)
    kept?.part.destroy(error as Error)
    kept?.file.then(
      (file) => file.dispose(),
      () => {},
    )
    if (error instanceof Unsound) return error.refused
    throw error
  }
}

/** A model that the path names goes before that of the form. */
function withModelInPath(request: IncomingMessage, fields: [string, string][]): [string, string][] {
  const model = modelInPath(request)
  if (model === undefined) return fields
  return [...fields.filter(([name]) => name !== 'model'), ['model', model]]
}

/** The reason why a form is refused. */
class Unsound extends Error {
  readonly refused: Refusal
  constructor(refused: Refusal) {
    super(refused.message)
    this.refused = refused
  }
}

const NO_FORM = refusals.invalidRequest(
  'O corpo da requisição não é um formulário multipart/form-data completo.',
)
const TOO_MANY_FIELDS = refusals.invalidRequest('O formulário tem campos demais.')

function openParser(
  { headers }: IncomingMessage,
  fileBytesMax: number,
): InstanceType<typeof Busboy> | undefined {
  try {
    return new Busboy({
      headers: { ...headers, 'content-type': headers['content-type'] ?? '' },
      limits: {
        fileSize: fileBytesMax,
        fields: FIELDS_MAX,
        fieldSize: FIELD_BYTES_MAX,
        parts: FIELDS_MAX + 1,
      },
    })
  } catch {
    return undefined
  }
}
