import { isObject } from '../../../platform/lib/is-object.ts'
import type { JsonObject } from '../../providers/contract.ts'
import type { CallRequest } from '../call.ts'
import { imageKindOf } from '../../media-of-part.ts'
import { isAbsent } from '../field-faults.ts'
import { readJsonBody } from '../read-request.ts'
import { isRefusal, refusals, type Refusal } from '../refusal.ts'
import { findRoutingFault, takeRouting } from '../routing/route-choice.ts'

export interface ModerationRequest extends CallRequest {
  /** Texts, each judged on its own; or the texts and images of one input. */
  readonly inputs: readonly (string | ModerationPart)[]
  /** How many judgements the answer has. */
  readonly resultCount: number
}

export type ModerationPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image_url'; readonly image_url: { readonly url: string } }

export const MODERATION_INPUTS_MAX = 2_048
/** The model of OpenAI's API for requests that name none. */
const DEFAULT_MODEL = 'omni-moderation-latest'

export function readModerationRequest(raw: Buffer): ModerationRequest | Refusal {
  const body = readJsonBody(raw)
  if (isRefusal(body)) return body
  if (isAbsent(body.model)) body.model = DEFAULT_MODEL
  const inputs = inputsOf(body.input)
  const fault = findRoutingFault(body) ?? (typeof inputs === 'string' ? inputs : undefined)
  if (fault !== undefined) return refusals.invalidRequest(fault)
  const given = inputs as ModerationRequest['inputs']
  return {
    ...takeRouting(body),
    isStream: false,
    inputs: given,
    resultCount: typeof given[0] === 'string' ? given.length : 1,
  }
}

/** Returns the inputs, or their fault as a text in Portuguese. */
function inputsOf(input: unknown): ModerationRequest['inputs'] | string {
  if (typeof input === 'string') return [input]
  if (!Array.isArray(input) || input.length === 0)
    return 'O campo "input" é obrigatório e deve ser um texto, uma lista de textos, ou uma lista de partes "text" e "image_url".'
  if (input.length > MODERATION_INPUTS_MAX)
    return `O campo "input" aceita até ${MODERATION_INPUTS_MAX} textos ou partes.`
  if (input.every((each) => typeof each === 'string')) return input
  const parts = input.map(partOf)
  const odd = parts.indexOf(undefined)
  return odd === -1
    ? (parts as ModerationPart[])
    : `input[${odd}] deve ser { "type": "text", "text": … } ou { "type": "image_url", "image_url": { "url": … } }, com uma imagem PNG, JPEG, GIF ou WebP, ou o endereço http(s) de uma.`
}

/** Returns the part without fields that an upstream may bill; undefined if it is none. */
function partOf(part: unknown): ModerationPart | undefined {
  const { type, text, image_url: image }: JsonObject = isObject(part) ? part : {}
  if (type === 'text' && typeof text === 'string') return { type, text }
  const url = isObject(image) ? image.url : undefined
  return type === 'image_url' && typeof url === 'string' && imageKindOf(url) !== undefined
    ? { type, image_url: { url } }
    : undefined
}
