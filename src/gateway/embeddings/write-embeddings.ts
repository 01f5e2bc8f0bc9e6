import type { TokenCounts } from '../../catalog/prices.ts'
import { jsonBrl, type NanoBrl } from '../../lib/money.ts'
import type { EmbeddingAnswer } from '../../providers/contract.ts'
import type { EmbeddingRequest } from './embedding-request.ts'
import type { HeldCall } from '../call.ts'

/** The JSON of an answer. Vectors are converted to the encoding that the client asked for. */
export function writeEmbeddings(
  { model, request }: HeldCall<EmbeddingRequest>,
  vectors: EmbeddingAnswer['vectors'],
  charged: TokenCounts & { readonly billedNanoBrl: NanoBrl },
): string {
  return JSON.stringify({
    object: 'list',
    data: vectors.map((vector, index) => ({
      object: 'embedding',
      index,
      embedding: request.encoding === 'base64' ? toBase64(vector) : toNumbers(vector),
    })),
    model: model.id,
    usage: { prompt_tokens: charged.promptTokens, total_tokens: charged.promptTokens },
    cost_billed_brl: jsonBrl(charged.billedNanoBrl),
  })
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
