/**
 * Lets pages of other origins call models (CORS). Such a page sends a key in a header, which no browser adds by itself;
 * the routes that a login session's cookie opens are never among these, and no answer allows credentials.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { ServerResponse } from 'node:http'

/** The origins that browsers may call from; `*` means every origin. */
export type CorsOrigins = '*' | readonly string[]

const PATH =
  /^\/v1(?:beta\/[^?]*|\/(?:(?:chat\/)?completions|responses(\/[^?]*)?|messages(\/(?:count_tokens|batches(?:\/[^?]*)?))?|files(?!\/images\/)(\/[^?]*)?|batches(\/[^?]*)?|embeddings|rerank|moderations|images\/(?:generations|edits)|audio\/(?:speech|transcriptions|translations)|(?:models|videos)(\/[^?]*)?))\/?(\?|$)/
/** Headers with which a login session calls models. */
const OF_SESSIONS: ReadonlySet<string> = new Set(['x-csrf-token', 'x-svc-api-key-id', 'cookie'])
const HEADER_NAME = /^[a-z0-9-]{1,100}$/
const EXPOSED =
  'x-request-id, x-svc-request-id, x-ratelimit-limit, x-ratelimit-remaining, x-ratelimit-reset, retry-after, x-should-retry, x-svc-cost-billed-brl, x-svc-cache'
/** Browsers keep the answer to a preflight for at most two hours. */
const PREFLIGHT_SECONDS = 7_200

export function addCors(server: FastifyInstance, origins: CorsOrigins): void {
  server.addHook('onRequest', (request, reply, done) => {
    const { origin } = request.headers
    if (!origin || !PATH.test(request.url)) return done()
    if (origins !== '*') reply.raw.setHeader('vary', 'origin')
    const isAllowed = origins === '*' || origins.includes(origin)
    // A cookie shows that the page asked for the rights of a login session.
    if (!isAllowed || request.headers.cookie !== undefined) return done()
    reply.raw.setHeader('access-control-allow-origin', origins === '*' ? '*' : origin)
    if (!isPreflight(request)) {
      reply.raw.setHeader('access-control-expose-headers', EXPOSED)
      return done()
    }
    allow(reply.raw, request)
    reply.code(204).send()
  })
}

function isPreflight({ method, headers }: FastifyRequest): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined
}

/** Client libraries send headers of their own, with their version and the like: all are allowed. */
function allow(answer: ServerResponse, { headers }: FastifyRequest): void {
  const asked = headers['access-control-request-headers'] ?? ''
  const names = asked.split(',').map((name) => name.trim().toLowerCase())
  const allowed = names.filter((name) => HEADER_NAME.test(name) && !OF_SESSIONS.has(name))
  answer.setHeader('access-control-allow-methods', 'GET, POST, DELETE')
  if (allowed.length > 0) answer.setHeader('access-control-allow-headers', allowed.join(', '))
  answer.setHeader('access-control-max-age', PREFLIGHT_SECONDS)
}
