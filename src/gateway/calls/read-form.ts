/** Multipart forms that were read into memory as a whole, for calls with small files or none. */
import type { FormFile, JsonObject } from '../providers/contract.ts'
import { isAbsent } from './field-faults.ts'
import { readJsonBody } from './read-request.ts'
import { isRefusal, refusals, type Refusal } from './refusal.ts'

export interface ReadForm {
  /**
   * The texts of a form by name, the last of each, and its list of `models`; or the JSON object that was sent in its
   * place.
   */
  readonly body: JsonObject
  readonly files: readonly FormFile[]
}

const PARTS_MAX = 50
const BOUNDARY_BYTES_MAX = 80
const HEAD_BYTES_MAX = 4_096
const LINE = '\r\n'
const HEAD_END = '\r\n\r\n'

/**
 * Reads a form, or JSON: client libraries send forms, and people JSON. A form begins with its boundary, and so with
 * hyphens, as no JSON does. The files are parts of `raw`, and not copies.
 */
export function readForm(raw: Buffer): ReadForm | Refusal {
  if (raw.subarray(0, 2).toString('latin1') !== '--') {
    const body = readJsonBody(raw)
    return isRefusal(body) ? body : { body, files: [] }
  }
  const end = raw.indexOf(LINE)
  if (end === -1 || end > BOUNDARY_BYTES_MAX) return NO_FORM
  const between = Buffer.concat([Buffer.from(LINE), raw.subarray(0, end)])
  const texts = new Map<string, string>()
  const models: string[] = []
  const files: FormFile[] = []
  for (let at = end, parts = 0; ; parts += 1) {
    // The last boundary has two more hyphens.
    if (raw.subarray(at, at + 2).toString('latin1') === '--')
      return { body: bodyOf(texts, models), files }
    const headEnd = raw.indexOf(HEAD_END, at)
    const partEnd = headEnd === -1 ? -1 : raw.indexOf(between, headEnd + LINE.length)
    if (partEnd === -1 || headEnd - at > HEAD_BYTES_MAX || parts === PARTS_MAX) return NO_FORM
    const head = raw.subarray(at, headEnd).toString('utf8')
    const bytes = raw.subarray(Math.min(headEnd + HEAD_END.length, partEnd), partEnd)
    const field = parameterOf(head, 'name')
    if (field === undefined) return NO_FORM
    const name = parameterOf(head, 'filename')
    if (name === undefined && MODELS.test(field)) models.push(bytes.toString('utf8'))
    else if (name === undefined) texts.set(field, bytes.toString('utf8'))
    else files.push({ field, name, mediaType: mediaTypeOf(head), bytes })
    at = partEnd + between.length
  }
}

const NO_FORM = refusals.invalidRequest(
  'O corpo da requisição não é um objeto JSON nem um formulário multipart/form-data completo.',
)

/** The field that a form may have more than once. */
const MODELS = /^models(\[\])?$/

function bodyOf(texts: ReadonlyMap<string, string>, models: readonly string[]): JsonObject {
  const body: JsonObject = Object.fromEntries(texts)
  if (models.length === 0) return body
  // Without a model, the first of the list is the one, as in JSON bodies.
  return { ...body, models, model: isAbsent(body.model) ? models[0] : body.model }
}

function parameterOf(head: string, name: string): string | undefined {
  const line = /^content-disposition:.*$/im.exec(head)?.[0] ?? ''
  const found = new RegExp(`;\\s*${name}=(?:"([^"]*)"|([^;\\s]+))`, 'i').exec(line)
  return found?.[1] ?? found?.[2]
}

function mediaTypeOf(head: string): string {
  return /^content-type:\s*(\S+)\s*$/im.exec(head)?.[1] ?? 'application/octet-stream'
}
