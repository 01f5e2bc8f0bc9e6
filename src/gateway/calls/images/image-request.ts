import type { JsonObject } from '../../providers/contract.ts'
import type { CallRequest } from '../call.ts'
import { findChoiceFault, findNumberFault, isAbsent, keepFields } from '../field-faults.ts'
import { readJsonBody } from '../read-request.ts'
import { isRefusal, refusals, type Refusal } from '../refusal.ts'
import { findRoutingFault, takeRouting } from '../routing/route-choice.ts'

/** Returns the media type of an image by its first bytes; PNG if they match no known type. */
export function imageMediaType(base64: string): string {
  const head = Buffer.from(base64.slice(0, 24), 'base64')
  if (head.subarray(0, 3).equals(JPEG)) return 'image/jpeg'
  if (head.subarray(0, 4).equals(RIFF) && head.subarray(8, 12).equals(WEBP)) return 'image/webp'
  return 'image/png'
}

const JPEG = Buffer.from([0xff, 0xd8, 0xff])
const RIFF = Buffer.from('RIFF')
const WEBP = Buffer.from('WEBP')

export interface ImageRequest extends CallRequest {
  readonly body: JsonObject
  readonly prompt: string
  readonly count: number
  /** `<width>x<height>`; undefined if the model chooses. */
  readonly size: string | undefined
  /** Undefined if the model chooses. */
  readonly quality: string | undefined
  readonly wants: 'url' | 'b64_json' | 'both'
}

export const IMAGES_MAX = 10
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

/** Reads an images request. */
export function readImageRequest(raw: Buffer): ImageRequest | Refusal {
  const body = readJsonBody(raw)
  if (isRefusal(body)) return body
  const fault = findFault(body)
  if (fault !== undefined) return refusals.invalidRequest(fault)
  keepFields(FIELDS, body)
  return {
    body,
    ...takeRouting(body),
    isStream: false,
    prompt: body.prompt as string,
    count: (body.n as number | null | undefined) ?? 1,
    size: chosen(body.size),
    quality: chosen(body.quality),
    wants: wantsOf(body),
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
    findChoiceFault(body, 'response_format', ['url', 'b64_json']) ??
    findUnpricedFault(body)
  )
}

function findSizeFault(size: unknown): string | undefined {
  return isAbsent(size) || size === 'auto' || (typeof size === 'string' && SIZE.test(size))
    ? undefined
    : 'O campo "size" deve ter a forma <largura>x<altura>, como 1024x1024.'
}

/** Partial images are refused because they are billed in addition to the final ones. */
function findUnpricedFault({ stream, partial_images: partial }: JsonObject): string | undefined {
  return stream === true || (!isAbsent(partial) && partial !== 0)
    ? 'A geração de imagens não tem stream aqui; remova os campos "stream" e "partial_images".'
    : undefined
}
