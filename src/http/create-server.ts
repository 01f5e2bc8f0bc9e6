/**
 * The HTTP server: limits and time-outs, the headers of every answer, the two error formats, and the
 * list of the routes.
 */
import Fastify, {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify'
import { plainIp } from '../customers/ip-allowlist.ts'
import { bearerOf } from '../gateway/admit.ts'
import { ipSubject, keySubject } from '../gateway/limits.ts'
import { refusalBody, refusals, type Refusal } from '../gateway/refusal.ts'
import { createId, isUuid } from '../lib/ids.ts'
import type { HttpDeps } from './http-deps.ts'
import { addChatCompletions } from './openai/chat-completions.ts'
import { addHealth } from './public/health.ts'
import { addMetrics } from './public/metrics.ts'
import { addModels } from './public/models.ts'
import { limitHeaders, requestIdHeaders } from './response-headers.ts'
import { restError } from './rest-error.ts'
import { addUsage } from './self-service/usage.ts'

/** The whole request must have arrived in this time. */
const REQUEST_TIMEOUT_MS = 60_000
/** Longer than the 60 s of common load balancers, so that they close idle connections and not we. */
const KEEP_ALIVE_TIMEOUT_MS = 72_000

/** Paths of model calls: their errors have the proxy format. */
const MODEL_CALL_PATH =
  /^\/v1\/(chat|completions|embeddings|images|audio|responses|messages)(\/|$|\?)/

export function createServer(deps: HttpDeps): FastifyInstance {
  const server = Fastify({
    bodyLimit: deps.bodyBytesMax,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    trustProxy: deps.trustProxy === false ? false : [...deps.trustProxy],
    genReqId: (request) => requestIdOf(request.headers['x-svc-request-id']),
    logger: false,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 200 },
    return503OnClosing: false,
  })
  // Bodies arrive as bytes, whatever their type is called: each route reads its own.
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) =>
    done(null, body),
  )

  server.addHook('onSend', async (request, reply) => {
    reply.headers(requestIdHeaders(request.id))
    if (request.url.startsWith('/v1')) reply.headers(limitHeaders(await limitsOf(deps, request)))
  })
  server.setNotFoundHandler((request, reply) => answerNotFound(request, reply))
  server.setErrorHandler((error: FastifyError, request, reply) =>
    answerError(deps, error, request, reply),
  )

  addChatCompletions(server, deps)
  addModels(server, deps)
  addHealth(server, deps)
  addUsage(server, deps)
  addMetrics(server, deps)
  return server
}

/** The client's own id for the call, where it is a UUID; else a new one. */
function requestIdOf(header: string | string[] | undefined): string {
  return typeof header === 'string' && isUuid(header) ? header.toLowerCase() : createId()
}

async function limitsOf(
  deps: HttpDeps,
  request: FastifyRequest,
): Promise<ReturnType<HttpDeps['limits']['lastKnown']>> {
  const secret = bearerOf(request.headers.authorization)
  const key = secret === undefined ? undefined : await deps.keys.find(secret).catch(() => undefined)
  return deps.limits.lastKnown(
    key ? keySubject(key) : ipSubject(plainIp(request.ip), deps.ipRequestsPerMinute),
  )
}

function answerNotFound(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  if (MODEL_CALL_PATH.test(request.url)) return sendRefusal(reply, refusals.routeNotFound())
  return restError(
    reply,
    404,
    'not_found',
    `${request.method} ${request.url.split('?')[0]?.slice(0, 200)}`,
  )
}

function answerError(
  deps: HttpDeps,
  error: FastifyError,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const status = error.statusCode ?? 500
  if (status >= 500)
    deps.log.error('request_failed', { requestId: request.id, method: request.method, error })
  const isModelCall = MODEL_CALL_PATH.test(request.url)
  if (status === 413) {
    return isModelCall
      ? sendRefusal(reply, refusals.payloadTooLarge(deps.bodyBytesMax))
      : restError(reply, 413, 'payload_too_large')
  }
  if (status < 500) {
    return isModelCall
      ? sendRefusal(reply, refusals.invalidRequest('A requisição está malformada.'))
      : restError(reply, 400, 'invalid_request', error.message)
  }
  return isModelCall
    ? sendRefusal(reply, refusals.internalError())
    : restError(reply, 500, 'internal_error')
}

function sendRefusal(reply: FastifyReply, refused: Refusal): FastifyReply {
  return reply
    .code(refused.status)
    .type('application/json; charset=utf-8')
    .send(refusalBody(refused))
}
