/** The headers of every answer: the request's id, under `/v1` the limits of its key or address, and those for pages of other origins. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { plainIp } from '../../customers/ip-allowlist.ts'
import { bearerOf } from '../../gateway/calls/admit.ts'
import { ipSubject, keySubject, type Limits } from '../../gateway/calls/limits.ts'
import type { HttpParts } from '../rest/parts.ts'
import { authorizationOf } from '../rest/authorization-of.ts'
import { endsConnection, limitHeaders, requestIdHeaders } from '../rest/response-headers.ts'
import { addCors } from './add-cors.ts'

/** A year. */
const HSTS = 'max-age=31536000'

type Deps = Pick<HttpParts, 'config' | 'keys' | 'limits'>

export function addAnswerHeaders(server: FastifyInstance, deps: Deps): void {
  addCors(server, deps.config.corsOrigins)
  const isSecure = deps.config.publicUrl?.startsWith('https:') ?? false
  server.addHook('onSend', async (request, reply) => {
    reply.headers(requestIdHeaders(request.id, request.headers['x-svc-request-id']))
    if (endsConnection(reply.statusCode)) reply.raw.shouldKeepAlive = false
    if (isSecure) reply.header('strict-transport-security', HSTS)
    if (request.url.startsWith('/v1') && !reply.hasHeader('x-ratelimit-limit'))
      reply.headers(limitHeaders(await limitsOf(deps, request, reply.statusCode)))
  })
}

async function limitsOf(deps: Deps, request: FastifyRequest, status: number): Promise<Limits> {
  // A wrong key is in no cache, so it is not looked up twice.
  const isWrong = status === 401 || status === 429
  const given = bearerOf(authorizationOf(request.headers))
  const secret = given !== undefined && (!isWrong || deps.keys.isKnown(given)) ? given : undefined
  const key = secret === undefined ? undefined : await deps.keys.find(secret).catch(() => undefined)
  return deps.limits.lastKnown(
    key ? keySubject(key) : ipSubject(plainIp(request.ip), deps.config.requestsPerMinutePerIp),
  )
}
