import { sha256 } from '../../platform/lib/ids.ts'
import { BadRequest } from './bad-request.ts'
import { createRefuser, refuse } from './create-refuser.ts'
import { deliverBody } from './deliver-body.ts'
import type { Exchange } from './open-exchange.ts'
import type { Tokenizer } from './open-tokenizer.ts'
import { PROVIDER_HEADERS } from './provider-headers.ts'
import {
  readEmbeddingRequest,
  type EmbeddingInput,
  type EmbeddingRequest,
} from './read-embedding-request.ts'
import { findSandboxModel } from './sandbox-models.ts'

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
