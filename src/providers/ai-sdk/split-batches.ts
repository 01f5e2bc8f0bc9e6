import type { EmbeddingModelV4 } from '@ai-sdk/provider'
import type { AiSdkOptions } from './ai-sdk-options.ts'

/** Vertex refuses more than 20,000 tokens at once; a token is a byte at least. */
const VERTEX_BATCH_BYTES_MAX = 20_000

/** The texts in their order, as many together as the upstream takes in one request. */
export async function splitBatches(
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
  // Not known to the package: on Vertex this model takes one text at a time.
  if (kind === 'google-vertex' && model.modelId === 'gemini-embedding-001') return 1
  return (await model.maxEmbeddingsPerCall) ?? Infinity
}
