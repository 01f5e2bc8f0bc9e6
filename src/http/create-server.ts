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
import type { Socket } from 'node:net'
import { isCustomerDeleted } from '../customers/customers.ts'
import { plainIp } from '../customers/ip-allowlist.ts'
import { bearerOf } from '../gateway/admit.ts'
import { ipSubject, keySubject } from '../gateway/limits.ts'
import { refusalBody, refusals, type Refusal } from '../gateway/refusal.ts'
import { createId, isUuid } from '../lib/ids.ts'
import { addOpenApi } from './docs/add-open-api.ts'
import type { HttpDeps } from './http-deps.ts'
import { UPLOAD_PATH } from './model-calls/model-call-routes.ts'
import { addRoutes } from './rest/route.ts'
import { listRoutes } from './resources.ts'
import { createArrivalWatch } from './arrival-watch.ts'
import { limitHeaders, requestIdHeaders } from './rest/response-headers.ts'
import { restError } from './rest/rest-error.ts'
import { RestRefusal } from './rest/rest-refusal.ts'
import { addWebApp } from './dashboard/web-app.ts'

/** The whole request must have arrived in this time; an uploaded file has the longer one. */
const BODY_TIMEOUT_MS = 60_000
const UPLOAD_TIMEOUT_MS = 900_000
/** Longer than the 60 s of common load balancers, so that they close idle connections and not we. */
const KEEP_ALIVE_TIMEOUT_MS = 72_000

/** A year. */
const HSTS = 'max-age=31536000'

/** Paths of model calls: their errors have the proxy format. */
const MODEL_CALL_PATH =
  /^\/v1\/(chat|completions|embeddings|images|audio|responses|messages)(\/|$|\?)/

/** By the route where one was found: a path may be written in many ways. */
function isModelCall(request: FastifyRequest): boolean {
  return MODEL_CALL_PATH.test(request.routeOptions.url ?? request.url)
}

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
    // As long as a whole head may be: what is too long for an id, its route says, in its own format.
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 16_384 },
    return503OnClosing: false,
    ajv: { customOptions: { removeAdditional: false, coerceTypes: false, useDefaults: true } },
  })
  await addOpenApi(server)
  const arrivals = createArrivalWatch(BODY_TIMEOUT_MS, ({ socket }) =>
    answerNoHttp({ code: 'ERR_HTTP_REQUEST_TIMEOUT' }, socket),
  )
  server.addHook('onClose', () => arrivals.stop())
  server.addHook('onRequest', (request, _reply, done) => {
    // By the address as it came: looking the route up is dear, and one written oddly has a minute.
    if (hasBody(request) && request.raw.url !== UPLOAD_PATH) arrivals.begin(request.raw)
    done()
  })
  // Bodies arrive as bytes, whatever their type is called: each route reads its own.
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

  addRoutes(server, listRoutes(deps.terms), (route) => route.handlersOf(deps))
  return server
}

function hasBody({ headers }: FastifyRequest): boolean {
  const { 'content-length': length } = headers
  return (length !== undefined && length !== '0') || headers['transfer-encoding'] !== undefined
}

/**
 * The target as routes know it: without scheme and host, which clients of proxies send along. Faulty
 * percent-encoding stands for itself, so that it is an unknown address like any other.
 */
function originForm(target: string): string {
  if (target.startsWith('/') && !target.includes('%')) return target
  const path = target.replace(/^https?:\/\/[^/?#]*/i, '') || '/'
  try {
    decodeURIComponent(path.split('?', 1)[0] as string)
    return path
  } catch {
    return path.replaceAll('%', '%25')
  }
}

/** What is no HTTP that could be read: there is no request yet to look at, only its connection. */
function answerNoHttp(error: { code?: string | undefined }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const [status, message] =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? ['431 Request Header Fields Too Large', 'Os cabeçalhos da requisição são grandes demais.']
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? ['408 Request Timeout', 'A requisição demorou demais para chegar.']
        : ['400 Bad Request', 'A requisição não é HTTP válido.']
  const body = refusalBody(refusals.invalidRequest(message))
  const head = Object.entries({
    ...requestIdHeaders(createId()),
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${status}\r\n${head.join('')}\r\n${body}`)
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
  if (isModelCall(request)) return sendRefusal(reply, refusals.routeNotFound())
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
  if (error instanceof RestRefusal) return restError(reply, error.status, error.code, error.details)
  // Whose account was deleted while this ran: nobody is there any more.
  if (isCustomerDeleted(error)) return reply.code(401).send()
  if (error.validation) return restError(reply, 400, 'invalid_request', whatIsWrong(error))
  const status = error.statusCode ?? 500
  if (status >= 500)
    deps.log.error('request_failed', { requestId: request.id, method: request.method, error })
  if (status === 413) {
    return isModelCall(request)
      ? sendRefusal(reply, refusals.payloadTooLarge(deps.bodyBytesMax))
      : restError(reply, 413, 'payload_too_large')
  }
  if (status < 500) {
    return isModelCall(request)
      ? sendRefusal(reply, refusals.invalidRequest('A requisição está malformada.'))
      : restError(reply, 400, 'invalid_request', error.message)
  }
  return isModelCall(request)
    ? sendRefusal(reply, refusals.internalError())
    : restError(reply, 500, 'internal_error')
}

/** `<field>: <what>`, of the first field that is wrong. */
function whatIsWrong({ validation, validationContext }: FastifyError): string {
  const { instancePath = '', message = '', params } = validation?.[0] ?? {}
  const inside = instancePath.slice(1).replaceAll('/', '.')
  const missing = params?.missingProperty ?? params?.additionalProperty
  const field = [inside, missing].filter(Boolean).join('.') || (validationContext ?? 'request')
  return `${field}: ${missing === undefined ? message : params?.missingProperty ? 'is required' : 'is not known'}`
}

function sendRefusal(reply: FastifyReply, refused: Refusal): FastifyReply {
  return reply
    .code(refused.status)
    .type('application/json; charset=utf-8')
    .send(refusalBody(refused))
}
