import type { IncomingHttpHeaders } from 'node:http'

/** Headers in which client libraries send the key if not in `Authorization`. */
const KEY_HEADERS = ['x-api-key', 'api-key', 'x-goog-api-key'] as const

/**
 * The key of a request as an `Authorization` header, wherever the client put it; undefined if there is none. A browser
 * sends none of these headers by itself.
 */
export function authorizationOf(headers: IncomingHttpHeaders): string | undefined {
  if (headers.authorization !== undefined) return headers.authorization
  for (const name of KEY_HEADERS) {
    const key = headers[name]
    if (typeof key === 'string') return `Bearer ${key}`
  }
  return undefined
}
