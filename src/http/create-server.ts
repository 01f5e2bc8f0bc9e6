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
import { addAdjustments } from './admin/adjustments.ts'
import { addAuditLog } from './admin/audit-log.ts'
import { addReconciliation } from './admin/reconciliation.ts'
import { addCustomers } from './admin/customers.ts'
import { addAdminIncidents } from './admin/incidents.ts'
import { addMailsInTrouble } from './admin/mails-in-trouble.ts'
import { addMargins } from './admin/margins.ts'
import { addMarkups } from './admin/markups.ts'
import { addAdminModels } from './admin/models.ts'
import { addWebhooksInTrouble } from './admin/webhooks-in-trouble.ts'
import { addAdminRefunds } from './admin/refunds.ts'
import { addServiceHealth } from './admin/service-health.ts'
import { addSuspensions } from './admin/suspensions.ts'
import type { HttpDeps } from './http-deps.ts'
import { createArrivalWatch } from './arrival-watch.ts'
import { addOpenApi } from './add-open-api.ts'
import { addModelCalls, UPLOAD_PATH } from './openai/add-model-calls.ts'
import { addAuthEvents } from './inbound/auth-events.ts'
import { addProcessorEvents } from './inbound/processor-events.ts'
import { addFxPage } from './public/fx-page.ts'
import { addFxRates } from './public/fx-rates.ts'
import { addHealth } from './public/health.ts'
import { addImageFiles } from './public/image-files.ts'
import { addIncidents } from './public/incidents.ts'
import { addMailbox } from './public/mailbox.ts'
import { addMetrics } from './public/metrics.ts'
import { addModelPrices } from './public/model-prices.ts'
import { addModels } from './public/models.ts'
import { addReferencePage } from './public/reference-page.ts'
import { addUnsubscribe } from './public/unsubscribe.ts'
import { addUpstreamHealth } from './public/upstream-health.ts'
import { addAuthRoutes } from './sign-in/auth-routes.ts'
import { addAuthPages } from './sign-in/auth-pages.ts'
import { addCodeRoute } from './sign-in/code-route.ts'
import { addSecurityRoutes } from './sign-in/security-routes.ts'
import { addOwnSession } from './self-service/own-session.ts'
import { limitHeaders, requestIdHeaders } from './response-headers.ts'
import { restError } from './rest-error.ts'
import { RestRefusal } from './rest-refusal.ts'
import { addAlerts } from './self-service/alerts.ts'
import { addApiKeys } from './self-service/api-keys.ts'
import { addPromptHistory } from './self-service/prompt-history.ts'
import { addPrompts } from './self-service/prompts.ts'
import { addRunPrompt } from './self-service/run-prompt.ts'
import { addNotifications } from './self-service/notifications.ts'
import { addPersonalData } from './self-service/personal-data.ts'
import { addPreferences } from './self-service/preferences.ts'
import { addProfile } from './self-service/profile.ts'
import { addReferrals } from './self-service/referrals.ts'
import { addReceivedInvitations } from './self-service/received-invitations.ts'
import { addTeamInvitations } from './self-service/team-invitations.ts'
import { addTeamKeys } from './self-service/team-keys.ts'
import { addTeamMembers } from './self-service/team-members.ts'
import { addTeams } from './self-service/teams.ts'
import { addDashboardStats } from './self-service/dashboard-stats.ts'
import { addRateLimitUse } from './self-service/rate-limit-use.ts'
import { addRecommendations } from './self-service/recommendations.ts'
import { addRunway } from './self-service/runway.ts'
import { addUsageByDay } from './self-service/usage-by-day.ts'
import { addUsageByKey } from './self-service/usage-by-key.ts'
import { addUsageSummary } from './self-service/usage-summary.ts'
import { addSessions } from './self-service/sessions.ts'
import { addUsageExports } from './self-service/usage-exports.ts'
import { addRefunds } from './self-service/refunds.ts'
import { addAutomaticTopUps } from './self-service/automatic-top-ups.ts'
import { addPaymentMethods } from './self-service/payment-methods.ts'
import { addTopUpReceipt } from './self-service/top-up-receipt.ts'
import { addTopUps } from './self-service/top-ups.ts'
import { addUsage } from './self-service/usage.ts'
import { addWebhookAttempts } from './self-service/webhook-attempts.ts'
import { addWebhooks } from './self-service/webhooks.ts'
import { addWebApp } from './web-app.ts'

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

  addModelCalls(server, deps)
  addImageFiles(server, deps)
  addModels(server, deps)
  addModelPrices(server, deps)
  addFxRates(server, deps)
  addFxPage(server, deps)
  addHealth(server, deps)
  addUpstreamHealth(server, deps)
  addIncidents(server, deps)
  addUsage(server, deps)
  addUsageExports(server, deps)
  addSessions(server, deps)
  addUsageSummary(server, deps)
  addUsageByKey(server, deps)
  addUsageByDay(server, deps)
  addRateLimitUse(server, deps)
  addDashboardStats(server, deps)
  addRunway(server, deps)
  addRecommendations(server, deps)
  addApiKeys(server, deps)
  addPrompts(server, deps)
  addPromptHistory(server, deps)
  addRunPrompt(server, deps)
  addOwnSession(server, deps)
  addProfile(server, deps)
  addPreferences(server, deps)
  addNotifications(server, deps)
  addReferrals(server, deps)
  addPersonalData(server, deps)
  addTeams(server, deps)
  addTeamMembers(server, deps)
  addTeamInvitations(server, deps)
  addReceivedInvitations(server, deps)
  addTeamKeys(server, deps)
  addAlerts(server, deps)
  addWebhooks(server, deps)
  addWebhookAttempts(server, deps)
  addPaymentMethods(server, deps)
  addTopUps(server, deps)
  addAutomaticTopUps(server, deps)
  addTopUpReceipt(server, deps)
  addRefunds(server, deps)
  addProcessorEvents(server, deps)
  addAuthEvents(server, deps)
  addAuditLog(server, deps)
  addReconciliation(server, deps)
  addCustomers(server, deps)
  addAdjustments(server, deps)
  addAdminModels(server, deps)
  addMarkups(server, deps)
  addAdminIncidents(server, deps)
  addWebhooksInTrouble(server, deps)
  addMailsInTrouble(server, deps)
  addAdminRefunds(server, deps)
  addSuspensions(server, deps)
  addMargins(server, deps)
  addServiceHealth(server, deps)
  addMetrics(server, deps)
  addMailbox(server, deps)
  addAuthPages(server, deps)
  addCodeRoute(server, deps)
  addSecurityRoutes(server, deps)
  addAuthRoutes(server, deps)
  addUnsubscribe(server, deps)
  addReferencePage(server)
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
