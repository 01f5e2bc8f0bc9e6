/** The HTTP server: limits and timeouts, the headers of every answer, and the list of routes. */
import Fastify, { type FastifyError, type FastifyInstance, type FastifyRequest } from 'fastify'
import { plainIp } from '../customers/ip-allowlist.ts'
import { bearerOf } from '../gateway/admit.ts'
import { ipSubject, keySubject } from '../gateway/limits.ts'
import { addWebApp } from './dashboard/web-app.ts'
import { addOpenApi } from './docs/add-open-api.ts'
import type { HttpDeps } from './http-deps.ts'
import { listRoutes } from './resources.ts'
import { limitHeaders, requestIdHeaders } from './rest/response-headers.ts'
import { addRoutes } from './rest/route.ts'
import { answerError, answerNotFound } from './server/answer-error.ts'
import { answerNoHttp } from './server/answer-no-http.ts'
import { createArrivalWatch } from './server/arrival-watch.ts'
import { hasBody, originForm, requestIdOf } from './server/request-head.ts'
import { ajvOptions, schemaController } from './server/schema-compilers.ts'

/** The whole request must arrive within this time; requests with an uploaded file have the longer limit. */
const BODY_TIMEOUT_MS = 60_000
const UPLOAD_TIMEOUT_MS = 900_000
/** Longer than the 60 s of common load balancers, so that they close idle connections before this server does. */
const KEEP_ALIVE_TIMEOUT_MS = 72_000

/** A year. */
const HSTS = 'max-age=31536000'

export async function createServer(deps: HttpDeps): Promise<FastifyInstance> {
  const server = Fastify({
    bodyLimit: deps.bodyBytesMax,
    requestTimeout: UPLOAD_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    trustProxy: deps.trustProxy === false ? false : [...deps.trustProxy],
    genReqId: (request) => requestIdOf(request.headers['x-svc-request-id']),
    logger: false,
    rewriteUrl: (request) => originForm(request.url ?? '/'),
    clientErrorHandler: answerNoHttp,
    // As long as the largest head: each route refuses an id that is too long, in its own format.
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 16_384 },
    return503OnClosing: false,
    ajv: ajvOptions,
    schemaController,
  })
  const routes = listRoutes(deps.terms)
  const streamed = new Set(routes.flatMap((route) => (route.isBodyStreamed ? route.url : [])))
  await addOpenApi(server)
  const arrivals = createArrivalWatch(BODY_TIMEOUT_MS, ({ socket }) =>
    answerNoHttp({ code: 'ERR_HTTP_REQUEST_TIMEOUT' }, socket),
  )
  server.addHook('onClose', () => arrivals.stop())
  server.addHook('onRequest', (request, _reply, done) => {
    // Decided by the raw path, because route lookup is expensive; an unusual spelling gets the default of a minute.
    if (hasBody(request) && !streamed.has(request.raw.url ?? '')) arrivals.begin(request.raw)
    done()
  })
  // Bodies arrive as bytes for every content type: each route parses its body.
  server.removeAllContentTypeParsers()
  server.addContentTypeParser('*', { parseAs: 'buffer' }, (request, body, done) => {
    arrivals.end(request.raw)
    done(null, body)
  })

  const isSecure = deps.publicUrl?.startsWith('https:') ?? false
  server.addHook('onSend', async (request, reply) => {
    reply.headers(requestIdHeaders(request.id))
    if (isSecure) reply.header('strict-transport-security', HSTS)
    if (request.url.startsWith('/v1')) reply.headers(limitHeaders(await limitsOf(deps, request)))
  })
  const webApp = await addWebApp(server)
  server.setNotFoundHandler(
    (request, reply) => webApp.answerPage(request, reply) ?? answerNotFound(request, reply),
  )
  server.setErrorHandler((error: FastifyError, request, reply) =>
    answerError(deps, error, request, reply),
  )

  addRoutes(server, routes, (route) => route.handlersOf(deps))
  return server
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
