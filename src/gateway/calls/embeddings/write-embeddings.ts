import type { TokenCounts } from '../../../money/catalog/prices.ts'
import { inSlices } from '../../../platform/admission/turn.ts'
import { jsonBrl, type NanoBrl } from '../../../platform/lib/money.ts'
import type { EmbeddingAnswer } from '../../providers/contract.ts'
import type { EmbeddingRequest } from './embedding-request.ts'
import type { HeldCall } from '../call.ts'

/**
 * The entries of an answer as JSON, written vector by vector: forty megabytes of numbers, written at once, would keep
 * every other call waiting for a second.
 */
export async function writeVectors(
  vectors: EmbeddingAnswer['vectors'],
  encoding: EmbeddingRequest['encoding'],
): Promise<string> {
  const entries: string[] = []
  await inSlices(() => {
    const index = entries.length
    const vector = vectors[index]
    if (vector === undefined) return false
    const embedding = encoding === 'base64' ? toBase64(vector) : toNumbers(vector)
    entries.push(JSON.stringify({ object: 'embedding', index, embedding }))
    return true
  })
  return entries.join(',')
}

/** The JSON of an answer with these entries. */
export function writeEmbeddings(
  { model }: Pick<HeldCall<EmbeddingRequest>, 'model'>,
  entries: string,
  charged: TokenCounts & { readonly billedNanoBrl: NanoBrl },
): string {
  const rest = JSON.stringify({
    model: model.id,
    usage: { prompt_tokens: charged.promptTokens, total_tokens: charged.promptTokens },
    cost_billed_brl: jsonBrl(charged.billedNanoBrl),
  })
  return `{"object":"list","data":[${entries}],${rest.slice(1)}`
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
