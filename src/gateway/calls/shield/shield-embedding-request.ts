import type { EmbeddingRequest } from '../embeddings/embedding-request.ts'
import { createTextShield } from './text-shield.ts'
import type { ShieldRequest } from './shielded-request.ts'

/**
 * Masks each text on its own, so that the same text has the same vector in every request. Texts that are given as
 * tokens are not read.
 */
export const shieldEmbeddingRequest: ShieldRequest<EmbeddingRequest> = (request, options) => {
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
