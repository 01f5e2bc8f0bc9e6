import type { IncomingHttpHeaders } from 'node:http'

/** Headers in which client libraries send the key if not in `Authorization`. */
const KEY_HEADERS = ['x-api-key', 'api-key', 'x-goog-api-key'] as const

const EMPTY = /^\s*(?:Bearer\s*)?$/i

/**
 * Returns the key of a request as an `Authorization` header, wherever the client put it; undefined if there is none. A
 * browser sends none of these headers by itself.
 */
export function authorizationOf(headers: IncomingHttpHeaders): string | undefined {
  const { authorization } = headers
  // Some clients send both, and leave the one that they do not use empty.
  if (authorization !== undefined && !EMPTY.test(authorization)) return authorization
  for (const name of KEY_HEADERS) {
    const key = headers[name]
    if (typeof key === 'string') return `Bearer ${key}`
  }
  return authorization
}
