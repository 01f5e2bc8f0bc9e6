import type { FastifyInstance, FastifyRequest } from 'fastify'
import { createId, isUuid } from '../../platform/lib/ids.ts'
import { withoutOpenCookies } from '../../identity/sign-in/session-cookie.ts'
import { originOf } from '../rest/origin-of.ts'

export function hasBody({ headers }: FastifyRequest): boolean {
  const { 'content-length': length } = headers
  return (length !== undefined && length !== '0') || headers['transfer-encoding'] !== undefined
}

/** Returns the size of the body; undefined if only its end will show it. */
export function declaredBytes({ headers }: FastifyRequest): number | undefined {
  if (headers['transfer-encoding'] !== undefined) return undefined
  return Number(headers['content-length'] ?? 0)
}

/**
 * Returns the target as routes expect it: without the scheme and host that clients of proxies send. Invalid
 * percent-encoding is kept as it is, so that it is an unknown path like any other.
 */
export function originForm(target: string): string {
  if (target.startsWith('/') && !target.includes('%')) return target
  const path = target.replace(/^https?:\/\/[^/?#]*/i, '') || '/'
  try {
    decodeURIComponent(path.split('?', 1)[0] as string)
    return path
  } catch {
    return path.replaceAll('%', '%25')
  }
}

/** Returns the client's id for the call if it is a UUID, else a new one. */
export function requestIdOf(header: string | string[] | undefined): string {
  return typeof header === 'string' && isUuid(header) ? header.toLowerCase() : createId()
}

/** Removes our cookies without the prefix `__Host-` from requests over https: another host of the site can set those. */
export function hideOpenCookies(server: FastifyInstance, publicUrl: string | undefined): void {
  server.addHook('onRequest', (request, _reply, done) => {
    const { headers } = request
    if (headers.cookie !== undefined && originOf(request, publicUrl).startsWith('https:'))
      headers.cookie = withoutOpenCookies(headers.cookie)
    done()
  })
}
