import { sha256 } from '../../platform/lib/ids.ts'
import {
  BadRequest,
  invalidType,
  missing,
  readChoice,
  readModelName,
  readNumber,
  parseJsonBody,
} from './read-field.ts'
import { createRefuser, refuse, PROVIDER_HEADERS } from './create-refuser.ts'
import { deliverBody } from './deliver-stream.ts'
import type { Exchange } from './open-exchange.ts'
import type { Tokenizer } from './open-tokenizer.ts'
import { findSandboxModel } from './sandbox-models.ts'

interface EmbeddingRequest {
  readonly modelName: string
  readonly inputs: readonly EmbeddingInput[]
  readonly dimensions: number
  readonly format: 'float' | 'base64'
}

/** A text, or a list of tokens. */
type EmbeddingInput = string | readonly number[]

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
function readEmbeddingRequest(text: string): EmbeddingRequest {
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

export interface SandboxEmbeddings {
  /** Throws `BadRequest`. Resolves when the answer is written or the client has left. */
  embed(exchange: Exchange, text: string): Promise<void>
}

/** OpenAI's limits for one input and for all inputs of a request. */
const INPUT_TOKENS_MAX = 8192
const REQUEST_TOKENS_MAX = 300_000
/** Computing and writing this many numbers takes about ten milliseconds; then other requests get a turn. */
const NUMBERS_PER_TURN = 32_768

export function createSandboxEmbeddings(
  openTokenizer: () => Promise<Tokenizer>,
): SandboxEmbeddings {
  const refuser = createRefuser()

  return {
    async embed(exchange, text) {
      const request = readEmbeddingRequest(text)
      const model = findSandboxModel(request.modelName)
      if (model.delivery === 'hang') return
      if (refuser.isRefused(model)) return refuse(exchange, model)

      const tokens = countInputs(request.inputs, await openTokenizer())
      const data = await renderVectors(exchange, request)
      const named = `"model":${JSON.stringify(request.modelName)}`
      let body = `{"object":"list","data":[${data}],${named}}`
      if (model.usage !== 'none') {
        exchange.reported = { promptTokens: tokens, completionTokens: 0 }
        const usage = JSON.stringify({ prompt_tokens: tokens, total_tokens: tokens })
        body = `${body.slice(0, -1)},"usage":${usage}}`
      }
      const { pace, delivery } = model
      // A vector is sent at once, so only the pace's time to the first token applies.
      return deliverBody({ exchange, headers: PROVIDER_HEADERS, pace, delivery, body, tokens: 0 })
    },
  }
}

function countInputs(inputs: readonly EmbeddingInput[], tokenizer: Tokenizer): number {
  let sum = 0
  for (const [index, input] of inputs.entries()) {
    const tokens = typeof input === 'string' ? tokenizer.count(input) : input.length
    if (tokens > INPUT_TOKENS_MAX) {
      throw new BadRequest(
        `Invalid 'input[${index}]': maximum input length is ${INPUT_TOKENS_MAX} tokens.`,
        'input',
        null,
      )
    }
    sum += tokens
    if (sum > REQUEST_TOKENS_MAX) {
      throw new BadRequest(
        `Invalid 'input': maximum request size is ${REQUEST_TOKENS_MAX} tokens per request.`,
        'input',
        'max_tokens_per_request',
      )
    }
  }
  return sum
}

/** The members of `data`, joined; empty if the client has left. */
async function renderVectors(exchange: Exchange, request: EmbeddingRequest): Promise<string> {
  const { inputs, dimensions, format } = request
  const rendered: string[] = []
  let numbers = 0
  for (const [index, input] of inputs.entries()) {
    const vector = createVector(input, dimensions)
    const embedding = format === 'float' ? `[${vector.join()}]` : `"${encodeBase64(vector)}"`
    rendered.push(`{"object":"embedding","index":${index},"embedding":${embedding}}`)
    numbers += dimensions
    if (numbers < NUMBERS_PER_TURN) continue
    numbers = 0
    await new Promise((resolve) => setImmediate(resolve))
    if (!exchange.isOpen) return ''
  }
  return rendered.join()
}

/** Little-endian on every machine, which the memory of a Float32Array is not. */
function encodeBase64(vector: Float32Array): string {
  const bytes = Buffer.allocUnsafe(vector.length * 4)
  for (let at = 0; at < vector.length; at += 1) bytes.writeFloatLE(vector[at] as number, at * 4)
  return bytes.toString('base64')
}

/** A vector of length 1 whose direction comes from a hash: the same input has the same vector. */
function createVector(input: EmbeddingInput, dimensions: number): Float32Array {
  // Hashed as JSON, in which a text differs from a list of tokens.
  const random = createRandom(sha256(JSON.stringify(input)))
  // Loops: with a call for each number, and all of them as arguments, a vector takes four times as long.
  const values = new Float64Array(dimensions)
  let squares = 0
  for (let at = 0; at < dimensions; at += 1) {
    const value = random() * 2 - 1
    values[at] = value
    squares += value * value
  }
  const length = Math.sqrt(squares)
  const vector = new Float32Array(dimensions)
  for (let at = 0; at < dimensions; at += 1) vector[at] = (values[at] as number) / length
  return vector
}

/** The generator sfc32: a seed of 128 bits, and a few nanoseconds per number, where a hash takes hundreds. */
function createRandom(seed: Buffer): () => number {
  let a = seed.readInt32LE(0)
  let b = seed.readInt32LE(4)
  let c = seed.readInt32LE(8)
  let counter = seed.readInt32LE(12)
  return () => {
    const sum = (a + b + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (((c << 21) | (c >>> 11)) + sum) | 0
    return (sum >>> 0) / 2 ** 32
  }
}
