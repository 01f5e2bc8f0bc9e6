import { isObject } from '../../platform/lib/is-object.ts'
import { BadRequest } from './bad-request.ts'
import type { JsonObject } from './read-field.ts'

/** Parses the body of a request. Throws `BadRequest` with OpenAI's wording. */
export function parseJsonBody(text: string): JsonObject {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch (cause) {
    throw new BadRequest(
      `We could not parse the JSON body of your request. (${(cause as Error).message})`,
      null,
      null,
    )
  }
  if (!isObject(body)) throw new BadRequest('The JSON body must be an object.', null, null)
  return body
}
