/** The embeddings kind of call: texts to vectors, billed by the input tokens alone. */
import { operationOf, type Model, type Tokenizer } from '../../../money/catalog/model.ts'
import { outputTokensTypical } from '../../../money/catalog/quote.ts'
import { beyond } from '../../../platform/admission/share.ts'
import type { EmbeddingAnswer, JsonObject, Provider } from '../../providers/contract.ts'
import { billedUsage, estimateReason, possibleUsage } from '../billed-usage.ts'
import type { CallBounds, CallKind } from '../call-kind.ts'
import type { HeldCall, Used } from '../call.ts'
import { chargeHeldCall, estimated } from '../charge.ts'
import { countTokens } from '../count-tokens.ts'
import { readEmbeddingRequest, type EmbeddingRequest } from './embedding-request.ts'
import type { TokenCounts } from '../../../money/catalog/prices.ts'
import { inSlices } from '../../../platform/admission/turn.ts'
import { jsonBrl, type NanoBrl } from '../../../platform/lib/money.ts'
import type { Refusal } from '../refusal.ts'
import { createTextShield, type ShieldRequest } from '../shield/text-shield.ts'

/**
 * Masks each text on its own, so that the same text has the same vector in every request. Texts that are given as
 * tokens are not read.
 */
const shieldEmbeddingRequest: ShieldRequest<EmbeddingRequest> = (request, options) => {
  const shield = createTextShield(options)
  const isOne = typeof request.body.input === 'string'
  const inputs = request.inputs.map((input, index) =>
    typeof input === 'string' ? shield.read(isOne ? 'input' : `input[${index}]`, input) : input,
  )
  const body = shield.readFields(request.body, 'input')
  const isOfTexts = inputs.some((input) => typeof input === 'string')
  return shield.outcome({
    ...request,
    inputs,
    body: isOfTexts ? { ...body, input: isOne ? inputs[0] : inputs } : body,
  })
}

/** A format in which clients send texts and read vectors. */
export interface EmbeddingFormat {
  read(this: void, raw: Buffer): EmbeddingRequest | Refusal
  entryOf(this: void, embedding: readonly number[] | string, index: number): JsonObject
  /** The JSON of an answer with these entries. */
  write(entries: string, call: Pick<HeldCall, 'model'>, charged: ChargedTexts): string
}

export type ChargedTexts = TokenCounts & { readonly billedNanoBrl: NanoBrl }

const openAiEmbeddings: EmbeddingFormat = {
  read: readEmbeddingRequest,
  entryOf: (embedding, index) => ({ object: 'embedding', index, embedding }),
  write(entries, { model }, charged) {
    const rest = JSON.stringify({
      model: model.id,
      usage: { prompt_tokens: charged.promptTokens, total_tokens: charged.promptTokens },
      cost_billed_brl: jsonBrl(charged.billedNanoBrl),
    })
    return `{"object":"list","data":[${entries}],${rest.slice(1)}`
  },
}

/**
 * The entries of an answer as JSON, written vector by vector: forty megabytes of numbers, written at once, would keep
 * every other call waiting for a second.
 */
async function writeVectors(
  vectors: EmbeddingAnswer['vectors'],
  encoding: EmbeddingRequest['encoding'],
  { entryOf }: Pick<EmbeddingFormat, 'entryOf'>,
): Promise<string> {
  const entries: string[] = []
  await inSlices(() => {
    const index = entries.length
    const vector = vectors[index]
    if (vector === undefined) return false
    const embedding = encoding === 'base64' ? toBase64(vector) : toNumbers(vector)
    entries.push(JSON.stringify(entryOf(embedding, index)))
    return true
  })
  return entries.join(',')
}

const FLOAT_BYTES = 4

function toBase64(vector: readonly number[] | string): string {
  if (typeof vector === 'string') return vector
  const bytes = Buffer.allocUnsafe(vector.length * FLOAT_BYTES)
  vector.forEach((value, index) => bytes.writeFloatLE(value, index * FLOAT_BYTES))
  return bytes.toString('base64')
}

function toNumbers(vector: readonly number[] | string): readonly number[] {
  if (typeof vector !== 'string') return vector
  const bytes = Buffer.from(vector, 'base64')
  const count = Math.floor(bytes.length / FLOAT_BYTES)
  return Array.from({ length: count }, (_, index) => bytes.readFloatLE(index * FLOAT_BYTES))
}

/** Tokens that a model adds around each text, with a margin. */
const TOKENS_PER_INPUT = 8

type EmbeddingKind = CallKind<Buffer, EmbeddingRequest, EmbeddingAnswer>

export function createEmbeddingKind(format: EmbeddingFormat): EmbeddingKind {
  return {
    operation: 'embeddings',
    shieldRequest: shieldEmbeddingRequest,
    read: format.read,
    cacheKeyOf: ({ body }) => body,
    findFault: findModelFault,
    bound: boundEmbeddings,
    answerBytesMax: answerBytesOf,
    can: (provider) => provider.embed !== undefined,
    call: (provider, { held, upstreamModel, signal, takeBytes }) =>
      (provider.embed as NonNullable<Provider['embed']>)(
        {
          body: { ...held.request.body, model: upstreamModel },
          inputs: held.request.inputs,
          dimensions: held.request.dimensions,
          callId: held.holdId,
          // Many upstreams write numbers also where base64 is asked for.
          takeBytes: beyond(
            answerBytesOf(held.model, { ...held.request, encoding: 'float' }),
            takeBytes,
          ),
        },
        signal,
      ),
    async relay(held, { outcome }, answeredBy, client) {
      const by = answeredBy()
      // Every text has at least one token.
      const least = { promptTokens: held.request.inputs.length }
      const reported = possibleUsage(held, outcome.usage, least)
      const used: Used = reported
        ? { counts: billedUsage(held.model, by.price, reported), kind: 'exact', reason: null }
        : await estimate(held, estimateReason(held, outcome.usage))
      const entries = await writeVectors(outcome.vectors, held.request.encoding, format)
      const resolution = chargeHeldCall(held, used, by)
      return {
        resolution,
        write: () => format.write(entries, held, resolution),
        send: (text) => client.answer(text, held.limits),
      }
    },
  }
}

export const embeddingKind = createEmbeddingKind(openAiEmbeddings)

function findModelFault(model: Model, request: EmbeddingRequest): string | undefined {
  const { id, embedding } = model
  const { dimensions } = request
  if (operationOf(model) !== 'embeddings' || !embedding)
    return `O modelo "${id}" não é de embeddings; use o endpoint da categoria dele.`
  if (dimensions === undefined || dimensions === embedding.dimensions)
    return findSizeFault(model, request)
  if (!embedding.canShorten)
    return `O modelo "${id}" só tem vetores de ${embedding.dimensions} dimensões.`
  if (dimensions > embedding.dimensions)
    return `dimensions passa do limite do modelo "${id}", que é ${embedding.dimensions}.`
  return findSizeFault(model, request)
}

/** The largest answer, which a node keeps in memory several times over while it converts the vectors. */
const ANSWER_BYTES_MAX = 40 * 1024 * 1024
/** JSON writes a number of 64 bits with up to 22 characters, and base64 one of 32 bits with 5.34. */
const NUMBER_BYTES = { float: 22, base64: 5.34 }

function answerBytesOf(model: Model, { inputs, dimensions, encoding }: EmbeddingRequest): number {
  const numbers = inputs.length * (dimensions ?? model.embedding?.dimensions ?? 0)
  return Math.ceil(numbers * NUMBER_BYTES[encoding])
}

function findSizeFault(model: Model, request: EmbeddingRequest): string | undefined {
  const bytes = answerBytesOf(model, request)
  if (bytes <= ANSWER_BYTES_MAX) return undefined
  const inputsMax = Math.floor((ANSWER_BYTES_MAX / bytes) * request.inputs.length)
  return request.encoding === 'base64'
    ? `A resposta teria mais de 40 MB: peça até ${inputsMax} textos por vez, ou menos "dimensions".`
    : `A resposta teria mais de 40 MB: peça até ${inputsMax} textos por vez, menos "dimensions", ou "encoding_format": "base64".`
}

function boundEmbeddings(model: Model, { inputs }: EmbeddingRequest): CallBounds {
  const bytes = inputs.reduce((sum, input) => sum + sizeOf(input), 0)
  const promptTokensMax = inputs.reduce(
    (sum, input) => sum + Math.min(sizeOf(input) + TOKENS_PER_INPUT, model.contextTokens),
    0,
  )
  const promptTokensEstimated = Math.min(outputTokensTypical(bytes), promptTokensMax)
  return {
    promptTokensMax,
    promptTokensEstimated,
    outputTokensMax: 0,
    choices: 1,
    tokensCounted: promptTokensEstimated,
    canLowerOutput: false,
    ...(model.tokenizer
      ? {
          countPrompt: () => countInputs(inputs, TOKENS_PER_INPUT, model.tokenizer),
          leastCount: () => tokensBesideTexts(inputs, TOKENS_PER_INPUT),
        }
      : {}),
  }
}

/** The most tokens that an input can have: a token has at least one byte, and token inputs are counted already. */
function sizeOf(input: string | readonly number[]): number {
  return typeof input === 'string' ? Buffer.byteLength(input) : input.length
}

async function countInputs(
  inputs: EmbeddingRequest['inputs'],
  tokensAround: number,
  tokenizer: Tokenizer | undefined,
): Promise<number | undefined> {
  const counted = await countTokens(
    inputs.filter((input) => typeof input === 'string'),
    tokenizer,
  )
  return counted === undefined ? undefined : counted + tokensBesideTexts(inputs, tokensAround)
}

function tokensBesideTexts(inputs: EmbeddingRequest['inputs'], tokensAround: number): number {
  const given = inputs.reduce(
    (sum, input) => sum + (typeof input === 'string' ? 0 : input.length),
    0,
  )
  return given + inputs.length * tokensAround
}

async function estimate(held: HeldCall<EmbeddingRequest>, reason: string): Promise<Used> {
  const counted = await countInputs(held.request.inputs, 0, held.model.tokenizer)
  const promptTokens = counted ?? held.promptTokensEstimated
  return estimated({ promptTokens, completionTokens: 0 }, reason)
}
