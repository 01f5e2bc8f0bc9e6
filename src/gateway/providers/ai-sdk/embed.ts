/**
 * Embeddings through the AI SDK's packages. Lists longer than an upstream accepts are sent in batches. A failed batch
 * fails the call, and the customer pays nothing, although the upstream bills the other batches: the batch with the
 * longest text is therefore answered first, and nothing is sent after the first failure.
 */
import type {
  EmbeddingModelV4,
  EmbeddingModelV4Result,
  EmbeddingModelV4CallOptions,
  JSONObject,
} from '@ai-sdk/provider'
import { isObject } from '../../../platform/lib/is-object.ts'
import type {
  EmbeddingAnswer,
  EmbeddingCall,
  Provider,
  ReportedUsage,
  UpstreamFailure,
} from '../contract.ts'
import { readCount } from '../openai-compatible/read-usage.ts'
import { plainTokens } from '../plain-tokens.ts'
import { type AiSdkOptions, callHeaders } from './ai-sdk-options.ts'
import { RefusedRequest, toFailure } from './to-failure.ts'

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
    const progress = { batches: 0, answered: 0 }
    try {
      const texts = call.inputs.map(textOf)
      const model = open(String(call.body.model))
      const batches = await splitBatches(kind, model, texts)
      const options = {
        ...toEmbeddingOptions(kind, model.modelId, call),
        headers: callHeaders(call.callId),
        abortSignal: signal,
      }
      progress.batches = batches.length
      const results = await mapLongestFirst(batches, BATCHES_AT_ONCE, async (values) => {
        const result = await model.doEmbed({ values, ...options })
        progress.answered += 1
        return result
      })
      return findFault(results, batches) ?? toAnswer(results)
    } catch (error) {
      const failure = withProgress(toFailure(error, callerSignal), progress)
      // The batches in flight are cancelled to save their cost.
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

/**
 * Acts on the batch with the longest text first, and alone: only a text that is too long is refused for its content, and
 * its refusal then costs nothing. The others follow, `atOnce` at a time. Results are in the order of the batches.
 */
async function mapLongestFirst<Result>(
  batches: readonly string[][],
  atOnce: number,
  act: (batch: string[]) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  const [first, ...others] = longestFirst(batches)
  if (!first) return results
  results[first.index] = await act(first.batch)
  const left = others.values()
  let hasFailed = false
  async function work(): Promise<void> {
    for (const { index, batch } of left) {
      if (hasFailed) return
      results[index] = await act(batch).catch((error: unknown) => {
        hasFailed = true
        throw error
      })
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, others.length) }, work))
  return results
}

function longestFirst(batches: readonly string[][]): { index: number; batch: string[] }[] {
  const indexed = batches.map((batch, index) => {
    const bytesMax = Math.max(...batch.map((text) => Buffer.byteLength(text)))
    return { index, batch, bytesMax }
  })
  const longest = Math.max(...indexed.map(({ bytesMax }) => bytesMax))
  const at = indexed.findIndex(({ bytesMax }) => bytesMax === longest)
  return [...indexed.splice(at, 1), ...indexed]
}

/** Adds the batches that the upstream answered, and bills, to the detail that the log shows. */
function withProgress(
  failure: UpstreamFailure,
  { batches, answered }: { batches: number; answered: number },
): UpstreamFailure {
  if (answered === 0) return failure
  const detail = `${answered} of ${batches} batches were answered and are not charged; ${failure.detail}`
  return { ...failure, detail }
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

/**
 * The number of dimensions, and for Cohere's models the required `input_type`: `search_document`, `search_query`,
 * `classification` or `clustering`. The packages refuse unknown values.
 */
function toEmbeddingOptions(
  kind: AiSdkOptions['kind'],
  modelId: string,
  { dimensions, body }: EmbeddingCall,
): Pick<EmbeddingModelV4CallOptions, 'dimensions' | 'providerOptions'> {
  const inputType = body.input_type as JSONObject[string]
  switch (kind) {
    case 'cohere':
      return { providerOptions: { cohere: given({ outputDimension: dimensions, inputType }) } }
    case 'amazon-bedrock': {
      // The package selects the request format by the same names.
      const isCohere = modelId.includes('cohere.embed-')
      const isNova = modelId.includes('amazon.nova-') && modelId.includes('embed')
      const options = isCohere
        ? { outputDimension: dimensions, inputType }
        : isNova
          ? { embeddingDimension: dimensions }
          : { dimensions }
      return { providerOptions: { amazonBedrock: given(options) } }
    }
    case 'google':
    case 'google-vertex':
    case 'anthropic':
      return dimensions === undefined ? {} : { dimensions }
  }
}

function given(options: Record<string, JSONObject[string] | undefined>): JSONObject {
  return Object.fromEntries(
    Object.entries(options).filter(([, value]) => value !== undefined && value !== null),
  )
}
