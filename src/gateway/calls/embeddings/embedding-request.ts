import type { JsonObject } from '../../providers/contract.ts'
import type { CallRequest } from '../call.ts'
import { findChoiceFault, findNumberFault, keepFields } from '../field-faults.ts'
import { readJsonBody } from '../read-request.ts'
import { isRefusal, refusals, type Refusal } from '../refusal.ts'
import { findRoutingFault, takeRouting } from '../routing/route-choice.ts'

export interface EmbeddingRequest extends CallRequest {
  readonly body: JsonObject
  /** The texts to embed, or their tokens. */
  readonly inputs: readonly (string | readonly number[])[]
  readonly dimensions: number | undefined
  readonly encoding: 'float' | 'base64'
}

export const INPUTS_MAX = 2_048

/** The fields that are kept: those that reach an upstream, and those that the gateway reads itself. */
const FIELDS: ReadonlySet<string> = new Set([
  'model',
  'models',
  'provider',
  'input',
  'dimensions',
  'encoding_format',
  'user',
  // For Cohere's models and similar ones.
  'input_type',
])

/** Reads an embeddings request. */
export function readEmbeddingRequest(raw: Buffer): EmbeddingRequest | Refusal {
  const body = readJsonBody(raw)
  return isRefusal(body) ? body : readEmbeddingBody(body)
}

/** Reads the parsed body of an embeddings request, and changes it. */
export function readEmbeddingBody(body: JsonObject): EmbeddingRequest | Refusal {
  const inputs = inputsOf(body.input)
  const fault =
    findRoutingFault(body) ??
    (typeof inputs === 'string' ? inputs : undefined) ??
    findNumberFault(body, 'dimensions', 1, Number.MAX_SAFE_INTEGER, true) ??
    findChoiceFault(body, 'encoding_format', ['float', 'base64'])
  if (fault !== undefined) return refusals.invalidRequest(fault)
  keepFields(FIELDS, body)
  return {
    body,
    ...takeRouting(body),
    isStream: false,
    inputs: inputs as EmbeddingRequest['inputs'],
    dimensions: (body.dimensions as number | null | undefined) ?? undefined,
    encoding: body.encoding_format === 'base64' ? 'base64' : 'float',
  }
}

/**
 * The inputs as a list. A single text becomes a list of one, and a list of numbers is the tokens of one text. Returns
 * the fault in Portuguese if the input is invalid.
 */
function inputsOf(input: unknown): EmbeddingRequest['inputs'] | string {
  if (typeof input === 'string') return input === '' ? EMPTY : [input]
  if (!Array.isArray(input) || input.length === 0)
    return 'O campo "input" é obrigatório e deve ser um texto ou uma lista de textos.'
  if (isTokens(input)) return [input]
  if (input.length > INPUTS_MAX) return `O campo "input" aceita até ${INPUTS_MAX} textos.`
  const list: unknown[] = input
  const odd = list.findIndex((item) => typeof item !== 'string' && !isTokens(item))
  if (odd !== -1) return `input[${odd}] deve ser um texto.`
  return list.some((item) => item === '') ? EMPTY : (list as EmbeddingRequest['inputs'])
}

const EMPTY = 'O campo "input" não pode ter textos vazios.'

function isTokens(value: unknown): value is number[] {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((token) => Number.isInteger(token) && (token as number) >= 0)
  )
}
