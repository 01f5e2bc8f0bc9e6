/** The HTTP server: limits and timeouts, the headers of every answer, and the list of routes. */
import Fastify, { type FastifyError, type FastifyInstance } from 'fastify'
import { addWebApp } from '../http/dashboard/web-app.ts'
import { addOpenApi } from '../site/docs/add-open-api.ts'
import { listRoutes, type ResourceDeps } from './resources.ts'
import { addRoutes } from '../http/rest/route.ts'
import { addAnswerHeaders, answerUnusualRequests } from '../http/server/add-answer-headers.ts'
import { addBodyReading } from '../http/server/add-body-reading.ts'
import { answerError, answerNotFound } from '../http/server/answer-error.ts'
import { createAnswerNoHttp } from '../http/server/answer-no-http.ts'
import { BoundedRequest } from '../http/server/bounded-request.ts'
import { clientPath, hideOpenCookies, requestIdOf } from '../http/server/request-head.ts'
import { isForWebSocket, serveUpgrades } from '../http/server/serve-upgrades.ts'
import { watchClients } from '../http/server/watch-clients.ts'
import { ajvOptions, schemaController } from '../http/server/schema-compilers.ts'

/** The whole request must arrive within this time, with an uploaded file if it has one. */
const UPLOAD_TIMEOUT_MS = 900_000
/** Longer than the 60 s of common load balancers, so that they close idle connections before this server does. */
const KEEP_ALIVE_TIMEOUT_MS = 72_000

/** The types of the platform do not have the last one yet. */
const HTTP_OPTIONS = {
  // `refuseWrongHosts` does it: the platform's own answer has none of the headers.
  requireHostHeader: false,
  IncomingMessage: BoundedRequest,
  shouldUpgradeCallback: isForWebSocket,
}

/** The largest body of a request that is not a model call. */
const REST_BODY_BYTES_MAX = 256 * 1024

/**
 * What the routes need, and the server for its own work. The dashboard's files belong to the server that sends them.
 */
export type HttpDeps = Omit<ResourceDeps, 'webApp'> & Parameters<typeof watchClients>[1]

export interface Server {
  readonly server: FastifyInstance
  readonly connections: ReturnType<typeof watchClients>
}

export async function createServer(deps: HttpDeps): Promise<Server> {
  const { config } = deps
  const answerNoHttp = createAnswerNoHttp(deps)
  const server = Fastify({
    http: HTTP_OPTIONS,
    bodyLimit: Math.min(REST_BODY_BYTES_MAX, config.bodyBytesMax),
    requestTimeout: UPLOAD_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    trustProxy: config.trustProxy === false ? false : [...config.trustProxy],
    genReqId: (request) => requestIdOf(request.headers['x-svc-request-id']),
    logger: false,
    rewriteUrl: (request) => clientPath(request),
    clientErrorHandler: answerNoHttp,
    // The same limit as for the whole head: each route refuses an id that is too long, in its own format.
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 16_384 },
    return503OnClosing: false,
    ajv: ajvOptions,
    schemaController,
  })
  const routes = listRoutes(config)
  const streamed = new Set(routes.flatMap((route) => (route.isBodyStreamed ? route.url : [])))
  await addOpenApi(server)
  const connections = watchClients(server, deps)
  answerUnusualRequests(server, answerNoHttp)
  serveUpgrades(server.server)
  addBodyReading(server, deps.bodies, streamed, answerNoHttp)

  // Before any reader of cookies: sessions, known devices, better-auth.
  hideOpenCookies(server, config.publicUrl)
  addAnswerHeaders(server, deps)
  const webApp = await addWebApp(server, deps.signIn.providers)
  server.setNotFoundHandler(
    (request, reply) => webApp.answerPage(request, reply) ?? answerNotFound(request, reply),
  )
  server.setErrorHandler((error: FastifyError, request, reply) =>
    answerError(deps, error, request, reply),
  )

  const resourceDeps = { ...deps, webApp }
  addRoutes(server, routes, (route) => route.handlersOf(resourceDeps), config.bodyBytesMax)
  return { server, connections }
}
