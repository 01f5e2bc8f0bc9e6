import { randomUUID } from 'node:crypto'
import { isObject } from '../../../platform/lib/is-object.ts'
import type {
  EmbeddingAnswer,
  EmbeddingCall,
  JsonObject,
  Provider,
  ReportedUsage,
} from '../contract.ts'
import { post } from './post.ts'
import { BadAnswer, readObject } from './read-answer.ts'
import { plainTokens } from '../plain-tokens.ts'
import { readCount } from './read-usage.ts'
import type { Upstream } from './upstream.ts'
import { inSlices } from '../../../platform/admission/turn.ts'

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

/** A shorter answer is parsed in a few milliseconds. */
const WHOLE_CHARACTERS_MAX = 256 * 1024
/** The vector of an entry. Within a text of JSON, quotation marks have a backslash before them. */
const VECTOR = /(?<!\\)"embedding"\s*:\s*\[([^[\]{}"]*)\]/g

/** Stands for a vector until the rest is parsed; no upstream can know it. */
const PLACE = `${randomUUID()} `

/**
 * Parses the answer of an embeddings model vector by vector: forty megabytes of numbers, parsed at once, would keep every
 * other call waiting for a second. Rejects with `BadAnswer`.
 */
export async function parseEmbeddings(text: string): Promise<JsonObject> {
  if (text.length <= WHOLE_CHARACTERS_MAX) return readObject(text)
  const vectors: unknown[] = []
  const rest: string[] = []
  let at = 0
  const pattern = new RegExp(VECTOR)
  await inSlices(() => {
    const found = pattern.exec(text)
    if (!found) return false
    rest.push(text.slice(at, found.index), `"embedding":"${PLACE}${vectors.length}"`)
    vectors.push(readVector(found[1] as string))
    at = pattern.lastIndex
    return true
  })
  rest.push(text.slice(at))
  const answer = readObject(rest.join(''))
  if (Array.isArray(answer.data))
    for (const entry of answer.data as unknown[])
      if (isObject(entry) && typeof entry.embedding === 'string')
        if (entry.embedding.startsWith(PLACE))
          entry.embedding = vectors[Number(entry.embedding.slice(PLACE.length))]
  return answer
}

function readVector(numbers: string): unknown {
  try {
    return JSON.parse(`[${numbers}]`)
  } catch {
    throw new BadAnswer('the answer is not JSON')
  }
}
