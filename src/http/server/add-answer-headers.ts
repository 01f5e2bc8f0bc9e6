/** The headers of every answer: the request's id, under `/v1` the limits of its key or address, and those for pages of other origins. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { KeyCache } from '../../customers/key-cache.ts'
import { plainIp } from '../../customers/ip-allowlist.ts'
import { bearerOf } from '../../gateway/calls/admit.ts'
import { ipSubject, keySubject, type Limits, type LimitsView } from '../../gateway/calls/limits.ts'
import { authorizationOf } from '../rest/authorization-of.ts'
import { endsConnection, limitHeaders, requestIdHeaders } from '../rest/response-headers.ts'
import { addCors, type CorsOrigins } from './add-cors.ts'

/** A year. */
const HSTS = 'max-age=31536000'

export interface AnswerHeaderDeps {
  /** The origins of pages that may call models with a key. */
  readonly corsOrigins: CorsOrigins
  /** The address at which customers reach this server. */
  readonly publicUrl: string | undefined
  readonly keys: KeyCache
  readonly limits: LimitsView
  readonly ipRequestsPerMinute: number
}

export function addAnswerHeaders(server: FastifyInstance, deps: AnswerHeaderDeps): void {
  addCors(server, deps.corsOrigins)
  const isSecure = deps.publicUrl?.startsWith('https:') ?? false
  server.addHook('onSend', async (request, reply) => {
    reply.headers(requestIdHeaders(request.id, request.headers['x-svc-request-id']))
    if (endsConnection(reply.statusCode)) reply.raw.shouldKeepAlive = false
    if (isSecure) reply.header('strict-transport-security', HSTS)
    if (request.url.startsWith('/v1') && !reply.hasHeader('x-ratelimit-limit'))
      reply.headers(limitHeaders(await limitsOf(deps, request, reply.statusCode)))
  })
}

async function limitsOf(
  deps: AnswerHeaderDeps,
  request: FastifyRequest,
  status: number,
): Promise<Limits> {
  // A wrong key is in no cache, so it is not looked up twice.
  const isWrong = status === 401 || status === 429
  const given = bearerOf(authorizationOf(request.headers))
  const secret = given !== undefined && (!isWrong || deps.keys.isKnown(given)) ? given : undefined
  const key = secret === undefined ? undefined : await deps.keys.find(secret).catch(() => undefined)
  return deps.limits.lastKnown(
    key ? keySubject(key) : ipSubject(plainIp(request.ip), deps.ipRequestsPerMinute),
  )
}
