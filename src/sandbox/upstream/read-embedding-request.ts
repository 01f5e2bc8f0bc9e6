import { BadRequest } from './bad-request.ts'
import { parseJsonBody } from './parse-json-body.ts'
import { invalidType, missing, readChoice, readModelName, readNumber } from './read-field.ts'

export interface EmbeddingRequest {
  readonly modelName: string
  readonly inputs: readonly EmbeddingInput[]
  readonly dimensions: number
  readonly format: 'float' | 'base64'
}

/** A text, or a list of tokens. */
export type EmbeddingInput = string | readonly number[]

const INPUTS_MAX = 2048
const DIMENSIONS_DEFAULT = 1536
/** The sizes of models that have another one. */
const DIMENSIONS_OF: Readonly<Record<string, number>> = {
  'text-embedding-3-large': 3072,
  'gemini-embedding-001': 3072,
  'mistral-embed': 1024,
}
const DIMENSIONS_MAX = 4096

/** Throws `BadRequest` with OpenAI's wording. */
export function readEmbeddingRequest(text: string): EmbeddingRequest {
  const body = parseJsonBody(text)
  const rule = { minimum: 1, maximum: DIMENSIONS_MAX, isInteger: true }
  const modelName = readModelName(body.model)
  const usual = DIMENSIONS_OF[modelName] ?? DIMENSIONS_DEFAULT
  return {
    modelName,
    inputs: readInputs(body.input),
    dimensions: readNumber(body, 'dimensions', rule) ?? usual,
    format: readChoice(body, 'encoding_format', ['float', 'base64']) ?? 'float',
  }
}

function readInputs(input: unknown): readonly EmbeddingInput[] {
  if (input === undefined || input === null) throw missing('input')
  if (!Array.isArray(input)) return [readText(input, 'input')]
  if (input.length === 0) throw emptyInput('input', 'array')
  // If the first member is a number, the array is the tokens of a single text.
  if (typeof input[0] === 'number') return [readTokens(input, 'input')]
  if (input.length > INPUTS_MAX) {
    throw new BadRequest(
      `Invalid 'input': array too long. Expected an array with maximum length ${INPUTS_MAX}, ` +
        `but got an array with length ${input.length} instead.`,
      'input',
      'array_above_max_length',
    )
  }
  return input.map((one: unknown, index) => {
    const param = `input[${index}]`
    return Array.isArray(one) ? readTokens(one, param) : readText(one, param)
  })
}

function readText(value: unknown, param: string): string {
  if (typeof value !== 'string') {
    throw invalidType(param, 'a string, an array of strings or an array of tokens', value)
  }
  if (value === '') throw emptyInput(param, 'string')
  return value
}

function readTokens(tokens: readonly unknown[], param: string): readonly number[] {
  if (tokens.length === 0) throw emptyInput(param, 'array')
  const isToken = (token: unknown): token is number => Number.isInteger(token) && Number(token) >= 0
  if (tokens.every(isToken)) return tokens
  const fault = tokens.findIndex((token) => !isToken(token))
  throw new BadRequest(
    `Invalid '${param}[${fault}]': expected a token, which is an integer from 0 on.`,
    `${param}[${fault}]`,
    'invalid_value',
  )
}

function emptyInput(param: string, kind: 'string' | 'array'): BadRequest {
  return new BadRequest(
    `Invalid '${param}': input cannot be an empty ${kind}.`,
    param,
    `empty_${kind}`,
  )
}
