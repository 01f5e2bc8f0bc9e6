import type { FormFile, JsonObject } from '../../providers/contract.ts'
import type { CallRequest } from '../call.ts'
import { findChoiceFault, findNumberFault, isAbsent, keepFields } from '../field-faults.ts'
import { readForm } from '../read-form.ts'
import { readJsonBody } from '../read-request.ts'
import { isRefusal, refusals, type Refusal } from '../refusal.ts'
import { findRoutingFault, takeRouting } from '../routing/route-choice.ts'

/** Returns the media type of an image by its first bytes; PNG if they match no known type. */
export function imageMediaType(base64: string): string {
  return typeByBytes(Buffer.from(base64.slice(0, 24), 'base64')) ?? 'image/png'
}

function typeByBytes(head: Buffer): string | undefined {
  if (head.subarray(0, 3).equals(JPEG)) return 'image/jpeg'
  if (head.subarray(0, 4).equals(RIFF) && head.subarray(8, 12).equals(WEBP)) return 'image/webp'
  return head.subarray(0, 4).equals(PNG) ? 'image/png' : undefined
}

const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47])
const JPEG = Buffer.from([0xff, 0xd8, 0xff])
const RIFF = Buffer.from('RIFF')
const WEBP = Buffer.from('WEBP')

export interface ImageRequest extends CallRequest {
  readonly body: JsonObject
  readonly prompt: string
  /** The images to edit and their mask; none for an image from a prompt alone. */
  readonly files: readonly FormFile[]
  readonly count: number
  /** `<width>x<height>`; undefined if the model chooses. */
  readonly size: string | undefined
  /** Undefined if the model chooses. */
  readonly quality: string | undefined
  readonly wants: 'url' | 'b64_json' | 'both'
  /** Whether the answer is events, one for each image, with its base64. */
  readonly wantsEvents: boolean
}

export const IMAGES_MAX = 10
/**
 * The most partial images that a client may ask for. None is ever made, which the format allows: they are billed in
 * addition to the final ones.
 */
export const PARTIAL_IMAGES_MAX = 3
/** The most images that one call edits together. */
export const EDITED_IMAGES_MAX = 16
const SIZE = /^[1-9]\d{1,4}x[1-9]\d{1,4}$/

/**
 * The fields that are kept: those that reach an upstream, and those that the gateway reads itself. Fields that set
 * size or steps under other names, and input images, are left out because some upstreams bill them separately.
 */
const FIELDS: ReadonlySet<string> = new Set([
  'model',
  'models',
  'provider',
  'prompt',
  'n',
  'size',
  'quality',
  'style',
  'background',
  'moderation',
  'output_format',
  'output_compression',
  'response_format',
  'negative_prompt',
  'seed',
  'user',
])
/** How closely an edit keeps its input, which is billed by the tokens of the input images. */
const FIELDS_OF_EDITS: ReadonlySet<string> = new Set([...FIELDS, 'input_fidelity'])

/** Reads a request for images from a prompt. */
export function readImageRequest(raw: Buffer): ImageRequest | Refusal {
  const body = readJsonBody(raw)
  return isRefusal(body) ? body : readImages(body, [])
}

/** Reads the form of an edit. Its texts become the numbers and flags that JSON has. */
export function readImageEdit(raw: Buffer): ImageRequest | Refusal {
  const form = readForm(raw)
  if (isRefusal(form)) return form
  const { body, files } = form
  const fault = findFilesFault(files)
  if (fault !== undefined) return refusals.invalidRequest(fault)
  for (const name of NOT_TEXTS) body[name] = valueOf(body[name])
  const field = files.filter(isImage).length > 1 ? 'image[]' : 'image'
  return readImages(
    body,
    files.map((file) => asSent(file, isImage(file) ? field : 'mask')),
  )
}

const NOT_TEXTS = ['n', 'stream', 'partial_images'] as const

function valueOf(text: unknown): unknown {
  if (text === '' || text === 'false') return undefined
  if (text === 'true') return true
  return typeof text === 'string' && /^-?\d/.test(text) ? Number(text) : text
}

/** The name and type that a customer gave do not leave: the first bytes decide the type. */
function asSent({ bytes }: FormFile, field: string): FormFile {
  const mediaType = typeByBytes(bytes) as string
  const name = `image.${mediaType.slice('image/'.length)}`
  return { field, name, mediaType, bytes }
}

function isImage({ field }: FormFile): boolean {
  return /^image(\[\d*\])?$/.test(field)
}

function findFilesFault(files: readonly FormFile[]): string | undefined {
  const images = files.filter(isImage)
  const masks = files.filter(({ field }) => field === 'mask')
  if (images.length === 0)
    return 'O campo "image" é obrigatório e deve ser um arquivo de imagem, num formulário multipart/form-data.'
  if (images.length > EDITED_IMAGES_MAX)
    return `O campo "image" aceita até ${EDITED_IMAGES_MAX} imagens.`
  if (masks.length > 1 || images.length + masks.length < files.length)
    return 'O formulário aceita arquivos em "image", ou "image[]", e um em "mask".'
  return files.every(({ bytes }) => typeByBytes(bytes) !== undefined)
    ? undefined
    : 'As imagens e a máscara devem ser PNG, JPEG ou WebP.'
}

function readImages(body: JsonObject, files: readonly FormFile[]): ImageRequest | Refusal {
  const fault = findFault(body)
  if (fault !== undefined) return refusals.invalidRequest(fault)
  const wantsEvents = body.stream === true
  keepFields(files.length > 0 ? FIELDS_OF_EDITS : FIELDS, body)
  return {
    body,
    ...takeRouting(body),
    isStream: false,
    prompt: body.prompt as string,
    files,
    count: (body.n as number | null | undefined) ?? 1,
    size: chosen(body.size),
    quality: chosen(body.quality),
    wants: wantsOf(body),
    wantsEvents,
  }
}

/** Client libraries know by the name that these models answer base64, and ask for nothing. */
const ANSWERS_BASE64 = /(^|\/)(chat)?gpt-image-/

function wantsOf({ response_format: format, model }: JsonObject): ImageRequest['wants'] {
  if (format === 'b64_json' || format === 'url') return format
  return ANSWERS_BASE64.test(model as string) ? 'both' : 'url'
}

function chosen(value: unknown): string | undefined {
  return typeof value === 'string' && value !== 'auto' ? value : undefined
}

function findFault(body: JsonObject): string | undefined {
  return (
    findRoutingFault(body) ??
    (typeof body.prompt === 'string' && body.prompt !== ''
      ? undefined
      : 'O campo "prompt" é obrigatório e deve ser um texto.') ??
    findNumberFault(body, 'n', 1, IMAGES_MAX, true) ??
    findSizeFault(body.size) ??
    findChoiceFault(body, 'quality', ['auto', 'low', 'medium', 'high', 'standard', 'hd']) ??
    findChoiceFault(body, 'background', ['auto', 'transparent', 'opaque']) ??
    findChoiceFault(body, 'response_format', ['url', 'b64_json']) ??
    findNumberFault(body, 'partial_images', 0, PARTIAL_IMAGES_MAX, true) ??
    (isAbsent(body.stream) || typeof body.stream === 'boolean'
      ? undefined
      : 'O campo "stream" deve ser true ou false.')
  )
}

function findSizeFault(size: unknown): string | undefined {
  return isAbsent(size) || size === 'auto' || (typeof size === 'string' && SIZE.test(size))
    ? undefined
    : 'O campo "size" deve ter a forma <largura>x<altura>, como 1024x1024.'
}
