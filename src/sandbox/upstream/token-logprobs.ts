import type { Piece } from './open-tokenizer.ts'
import type { JsonObject } from './read-field.ts'

/**
 * The probability of a piece of the answer, and of as many others as are asked for. The sandbox does not sample, so they
 * are invented: each token is twice as probable as the next one, and the piece comes first.
 */
export function describeLogprob({ text }: Piece, topCount: number): JsonObject {
  const list = [text, ...Array.from({ length: topCount }, (_, index) => ` outra${index + 1}`)]
  const others = list.slice(0, topCount).map(describeToken)
  return { ...describeToken(text, 0), top_logprobs: others }
}

function describeToken(token: string, rank: number): JsonObject {
  return { token, logprob: -Math.LN2 * (rank + 1), bytes: [...Buffer.from(token)] }
}
