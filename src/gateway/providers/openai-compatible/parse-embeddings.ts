import { randomUUID } from 'node:crypto'
import { inSlices } from '../../../platform/admission/turn.ts'
import { isObject } from '../../../platform/lib/is-object.ts'
import type { JsonObject } from '../contract.ts'
import { BadAnswer, readObject } from './read-answer.ts'

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
