/** The headers of every answer: the request's id, under `/v1` the limits of its key or address, and those for pages of other origins. */
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { plainIp } from '../../customers/ip-allowlist.ts'
import { bearerOf } from '../../gateway/calls/admit.ts'
import { ipSubject, keySubject, type Limits } from '../../gateway/calls/limits.ts'
import type { HttpParts } from '../rest/parts.ts'
import { authorizationOf } from '../rest/request-headers.ts'
import { endsConnection, limitHeaders, requestIdHeaders } from '../rest/response-headers.ts'
import { addCors } from './add-cors.ts'
import type { AnswerNoHttp } from './answer-no-http.ts'

/** The status is read by the framework's error handling. */
class WrongHosts extends Error {
  readonly statusCode = 400
}

/**
 * Refuses requests with several `Host` headers, and those of HTTP/1.1 without one, as RFC 9112 (3.2) demands: a proxy may
 * have routed by one of them, and this server would believe another.
 */
function refuseWrongHosts(server: FastifyInstance): void {
  server.addHook('onRequest', (request, reply, done) => {
    const { rawHeaders, httpVersion } = request.raw
    let hosts = 0
    for (let index = 0; index < rawHeaders.length; index += 2)
      if (rawHeaders[index]?.length === 4 && rawHeaders[index]?.toLowerCase() === 'host') hosts++
    if (hosts === 1 || (hosts === 0 && httpVersion !== '1.1')) return done()
    reply.header('connection', 'close')
    done(new WrongHosts(`${hosts} Host headers`))
  })
}

/**
 * Requests that the platform would answer by itself, without the headers of an answer. One that expects something else
 * than `100-continue` is a request like any other, as RFC 9110 (10.1.1) allows; `CONNECT` is for proxies.
 */
export function answerUnusualRequests(instance: FastifyInstance, answerNoHttp: AnswerNoHttp): void {
  const { server } = instance
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  server.on('connect', (_request, socket: Socket) => answerNoHttp({}, socket))
  refuseWrongHosts(instance)
}

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
