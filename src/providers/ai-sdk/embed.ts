/** Embeddings through the AI SDK's packages. Lists longer than an upstream accepts are sent in batches. */
import type { EmbeddingModelV4, EmbeddingModelV4Result } from '@ai-sdk/provider'
import { isObject } from '../../lib/is-object.ts'
import type {
  EmbeddingAnswer,
  EmbeddingCall,
  Provider,
  ReportedUsage,
  UpstreamFailure,
} from '../contract.ts'
import { readCount } from '../openai-compatible/read-count.ts'
import { plainTokens } from '../plain-tokens.ts'
import type { AiSdkOptions } from './ai-sdk-options.ts'
import { callHeaders } from './call-headers.ts'
import { RefusedRequest } from './refused-request.ts'
import { toEmbeddingOptions } from './to-embedding-options.ts'
import { toFailure } from './to-failure.ts'

/** Some models accept one text per request; thousands of concurrent requests would only hit the rate limit. */
const BATCHES_AT_ONCE = 8
/** Vertex refuses more than 20,000 tokens per request; a token has at least one byte. */
const VERTEX_BATCH_BYTES_MAX = 20_000

export function createEmbed(
  kind: AiSdkOptions['kind'],
  open: (modelId: string) => EmbeddingModelV4,
): NonNullable<Provider['embed']> {
  return async function embed(call, callerSignal) {
    const canceller = new AbortController()
    const signal = AbortSignal.any([callerSignal, canceller.signal])
    try {
      const texts = call.inputs.map(textOf)
      const model = open(String(call.body.model))
      const batches = await splitBatches(kind, model, texts)
      const options = {
        ...toEmbeddingOptions(kind, model.modelId, call),
        headers: callHeaders(call.callId),
        abortSignal: signal,
      }
      const results = await mapInOrder(batches, BATCHES_AT_ONCE, (values) =>
        model.doEmbed({ values, ...options }),
      )
      return findFault(results, batches) ?? toAnswer(results)
    } catch (error) {
      const failure = toFailure(error, callerSignal)
      // One failed batch fails the call, so the others are cancelled to save their cost.
      canceller.abort()
      return failure
    }
  }
}

function textOf(input: EmbeddingCall['inputs'][number]): string {
  if (typeof input !== 'string') throw new RefusedRequest('this upstream accepts texts, not tokens')
  return input
}

/** Splits the texts, in order, into batches that the upstream accepts in one request. */
async function splitBatches(
  kind: AiSdkOptions['kind'],
  model: EmbeddingModelV4,
  texts: readonly string[],
): Promise<string[][]> {
  const textsMax = await textsAtOnce(kind, model)
  const bytesMax = kind === 'google-vertex' ? VERTEX_BATCH_BYTES_MAX : Infinity
  const batches: string[][] = []
  let batch: string[] = []
  let batchBytes = 0
  for (const text of texts) {
    const bytes = Buffer.byteLength(text)
    if (batch.length > 0 && (batch.length >= textsMax || batchBytes + bytes > bytesMax)) {
      batches.push(batch)
      batch = []
      batchBytes = 0
    }
    batch.push(text)
    batchBytes += bytes
  }
  if (batch.length > 0) batches.push(batch)
  return batches
}

async function textsAtOnce(kind: AiSdkOptions['kind'], model: EmbeddingModelV4): Promise<number> {
  // On Vertex this model accepts one text per request, which the package does not know.
  if (kind === 'google-vertex' && model.modelId === 'gemini-embedding-001') return 1
  return (await model.maxEmbeddingsPerCall) ?? Infinity
}

async function mapInOrder<Item, Result>(
  items: readonly Item[],
  atOnce: number,
  act: (item: Item) => PromiseLike<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  const left = items.entries()
  async function work(): Promise<void> {
    for (const [index, item] of left) results[index] = await act(item)
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, work))
  return results
}

/** A vector assigned to the wrong text would never be noticed, so a wrong number of vectors is rejected. */
function findFault(
  results: readonly EmbeddingModelV4Result[],
  batches: readonly string[][],
): UpstreamFailure | undefined {
  for (const [index, { embeddings }] of results.entries()) {
    const inputs = batches[index]?.length ?? 0
    if (embeddings.length !== inputs)
      return bad(`${embeddings.length} vectors for ${inputs} inputs`)
    if (embeddings.some((vector) => vector.length === 0)) return bad('an embedding is empty')
  }
  return undefined
}

function bad(detail: string): UpstreamFailure {
  return { kind: 'failure', reason: 'bad_answer', detail }
}

function toAnswer(results: readonly EmbeddingModelV4Result[]): EmbeddingAnswer {
  return {
    kind: 'embeddings',
    vectors: results.flatMap(({ embeddings }) => embeddings),
    usage: sumUsage(results.map(readTokens)),
  }
}

/**
 * The tokens of one answer; undefined if unknown. Every text has at least one token, so zero means unknown: the packages
 * fill it in. The package for Gemini reads no usage, but passes on the answer that contains it.
 */
function readTokens({ usage, response }: EmbeddingModelV4Result): number | undefined {
  const body = isObject(response?.body) ? response.body : {}
  const ofGemini = isObject(body.usageMetadata) ? body.usageMetadata.promptTokenCount : undefined
  return readCount(usage?.tokens ?? ofGemini) || undefined
}

function sumUsage(tokens: readonly (number | undefined)[]): ReportedUsage | undefined {
  let sum = 0
  for (const count of tokens) {
    if (count === undefined) return undefined
    sum += count
  }
  return plainTokens(sum, 0)
}
