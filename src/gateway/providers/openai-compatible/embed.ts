import { isObject } from '../../../platform/lib/is-object.ts'
import type {
  EmbeddingAnswer,
  EmbeddingCall,
  JsonObject,
  Provider,
  ReportedUsage,
} from '../contract.ts'
import { parseEmbeddings } from './parse-embeddings.ts'
import { post } from './post.ts'
import { BadAnswer } from './read-answer.ts'
import { plainTokens } from '../plain-tokens.ts'
import { readCount } from './read-usage.ts'
import type { Upstream } from './upstream.ts'

/** The gateway asks for 40 MB of numbers at most; indented, with one number per line, they are twice as long. */
const ANSWER_BYTES_MAX = 96 * 1024 * 1024

export function createEmbed(upstream: Upstream): NonNullable<Provider['embed']> {
  const path = upstream.path('/embeddings')
  return async function embed(call, signal) {
    const request = {
      path,
      callId: call.callId,
      body: JSON.stringify(call.body),
      answerBytesMax: ANSWER_BYTES_MAX,
      takeBytes: call.takeBytes,
      parse: parseEmbeddings,
    }
    return post(upstream, request, signal, (answer) => readAnswer(answer, call))
  }
}

function readAnswer(answer: JsonObject, { inputs }: EmbeddingCall): EmbeddingAnswer {
  if (!Array.isArray(answer.data)) throw new BadAnswer('the answer has no data')
  const vectors = inOrder(answer.data).map(({ embedding }) => embedding)
  if (vectors.length !== inputs.length) {
    throw new BadAnswer(`${vectors.length} vectors for ${inputs.length} inputs`)
  }
  if (!vectors.every(isVector)) throw new BadAnswer('an embedding is not a vector')
  return { kind: 'embeddings', vectors, usage: readUsage(answer.usage) }
}

/**
 * Sorts the vectors by index. A vector assigned to the wrong text would never be noticed, so a doubtful order is
 * rejected. Some upstreams omit an index of zero, others all indexes; without indexes, the given order applies.
 */
function inOrder(data: unknown[]): JsonObject[] {
  if (!data.every(isObject)) throw new BadAnswer('an embedding is not an object')
  const indexed = data.map((entry) => ({ index: entry.index ?? 0, entry }))
  if (!indexed.every(({ index }) => index === 0)) {
    indexed.sort((a, b) => Number(a.index) - Number(b.index))
    if (!indexed.every(({ index }, offset) => index === offset)) {
      throw new BadAnswer('the indexes of the embeddings are not consecutive')
    }
  }
  return indexed.map(({ entry }) => entry)
}

function isVector(value: unknown): value is number[] | string {
  if (Array.isArray(value)) return value.length > 0 && value.every((each) => Number.isFinite(each))
  return (
    typeof value === 'string' &&
    /^[A-Za-z0-9+/]+={0,2}$/.test(value) &&
    Buffer.byteLength(value, 'base64') % Float32Array.BYTES_PER_ELEMENT === 0
  )
}

/** Every input has at least one token, so a report of zero counts as unknown usage. */
function readUsage(usage: unknown): ReportedUsage | undefined {
  if (!isObject(usage)) return undefined
  const promptTokens = readCount(usage.prompt_tokens ?? usage.total_tokens)
  return promptTokens ? plainTokens(promptTokens, 0) : undefined
}
