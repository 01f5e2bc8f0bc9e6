/** The formats of errors: model calls use that of their client libraries, everything else the REST format. */
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { isCustomerDeleted } from '../../customers/customers.ts'
import { isDatabaseUnavailable } from '../../platform/db/database-errors.ts'
import { noteRefusal, type RefusalDeps } from '../../gateway/calls/refuse-call.ts'
import { refusalOfExcess, refusals, type Refusal } from '../../gateway/calls/refusal.ts'
import { clientErrorsOf, errorFormatOf, messagesErrors } from '../rest/error-formats.ts'
import type { HttpParts } from '../rest/parts.ts'
import { refusalOfRest, RestRefusal, restError } from '../rest/rest-refusal.ts'
import { limitHeaders } from '../rest/response-headers.ts'
import { TooManyRequests } from '../rest/rest-limits.ts'
import { hasLeft } from '../rest/leaving-client.ts'
import { checkedCallers, explainFault } from './explain-fault.ts'
import { BodyRefused, CodingRefused } from './read-body.ts'

/** Thrown when the server has too many connections. The error handler answers in the format of the route. */
export class TooManyConnections extends Error {
  constructor() {
    super('the limit of client connections is reached')
  }
}

const RETRY_AFTER_SECONDS = 5
/** A connection that is lost during a commit leaves open whether the act happened. */
const DATABASE_UNAVAILABLE =
  'O serviço está sobrecarregado ou em manutenção neste momento. Tente de novo em alguns segundos; se a requisição muda algo, com a mesma Idempotency-Key, porque ela pode ter sido aplicada.'

/** Paths that client libraries know and this server does not have. */
const UNBUILT =
  'uploads|conversations|assistants|threads|vector_stores|containers|evals|fine_tuning|realtime|skills|graders'
/** Paths of model calls, and of what is beside them in the field. */
const MODEL_CALL_PATH = new RegExp(
  `^/v1(?:beta|/(?:chat|completions|embeddings|rerank|moderations|images|audio|responses|messages|files|batches|videos|${UNBUILT}))(?:/|$|\\?)`,
)
const UNBUILT_PATH = new RegExp(
  `^/v1(?:beta/(?!models)|/(?:(?:${UNBUILT}|images/variations|audio/voices)(?:/|$|\\?)))`,
)

export function isModelCall(request: FastifyRequest): boolean {
  return MODEL_CALL_PATH.test(pathOf(request))
}

/** The path of the route if one was found: a path may be written in many ways. */
function pathOf({ routeOptions, url }: FastifyRequest): string {
  return routeOptions.url ?? url
}

export function answerNotFound(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const isUpgrade = /^websocket$/i.test(request.headers.upgrade ?? '')
  if (isUpgrade) reply.header('upgrade', 'HTTP/1.1')
  if (isModelCall(request))
    return sendRefusal(
      request,
      reply,
      isUpgrade ? refusals.upgradeRefused() : notFoundAt(request),
      // The client of Messages calls `/v1/files`, too.
      request.headers['anthropic-version'] === undefined ? undefined : messagesErrors,
    )
  return restError(
    reply,
    404,
    'not_found',
    `${request.method} ${request.url.split('?')[0]?.slice(0, 200)}`,
  )
}

function notFoundAt({ url }: FastifyRequest): Refusal {
  return UNBUILT_PATH.test(url) ? refusals.endpointNotAvailable() : refusals.routeNotFound()
}

type ErrorDeps = RefusalDeps & Pick<HttpParts, 'config' | 'log'>

export function answerError(
  deps: ErrorDeps,
  error: FastifyError,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  if (error instanceof RestRefusal) {
    if (error.retryAfterSeconds !== undefined) reply.header('retry-after', error.retryAfterSeconds)
    if (error instanceof TooManyRequests) reply.headers(limitHeaders(error.limits))
    if (clientErrorsOf(pathOf(request)))
      return refuseCaller(deps, request, reply, refusalOfRest(error))
    return restError(reply, error.status, error.code, error.details)
  }
  // The account was deleted while the request ran, so the caller no longer exists.
  if (isCustomerDeleted(error)) return reply.code(401).send()
  if (error instanceof BodyRefused)
    return answerFull(deps, refusalOfExcess(error.excess), request, reply)
  if (error instanceof TooManyConnections)
    return answerFull(deps, refusals.tooManyConnections(), request, reply)
  if (error instanceof CodingRefused)
    return isModelCall(request)
      ? refuseCaller(deps, request, reply, refusals.codingRefused())
      : restError(
          reply,
          400,
          'invalid_request',
          'content-encoding: o corpo não pode ser comprimido',
        )
  if (error.validation)
    return clientErrorsOf(pathOf(request))
      ? refuseCaller(deps, request, reply, refusals.invalidRequest(whatIsWrong(error)))
      : restError(reply, 400, 'invalid_request', whatIsWrong(error))
  if (isDatabaseUnavailable(error)) {
    const { id: requestId, method } = request
    deps.log.warn('request_without_database', { requestId, method, error })
    reply.header('retry-after', RETRY_AFTER_SECONDS)
    return clientErrorsOf(pathOf(request)) || isModelCall(request)
      ? refuseCaller(deps, request, reply, refusals.serviceUnavailable())
      : restError(reply, 503, 'service_unavailable', DATABASE_UNAVAILABLE)
  }
  const status = error.statusCode ?? 500
  if (status >= 500)
    deps.log.error('request_failed', { requestId: request.id, method: request.method, error })
  if (status === 413) {
    return isModelCall(request)
      ? refuseCaller(deps, request, reply, refusals.payloadTooLarge(deps.config.bodyBytesMax))
      : restError(reply, 413, 'payload_too_large')
  }
  if (status < 500) {
    return isModelCall(request)
      ? refuseCaller(deps, request, reply, refusals.invalidRequest('A requisição está malformada.'))
      : restError(reply, 400, 'invalid_request', 'a requisição está malformada')
  }
  return isModelCall(request)
    ? refuseCaller(deps, request, reply, refusals.internalError())
    : restError(reply, 500, 'internal_error')
}

function answerFull(
  deps: ErrorDeps,
  refused: Refusal,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  reply.header('retry-after', refused.retryAfterSeconds)
  return isModelCall(request)
    ? refuseCaller(deps, request, reply, refused)
    : restError(reply, refused.status, refused.code)
}

/** `<field>: <fault>` for the first invalid field. */
function whatIsWrong({ validation, validationContext }: FastifyError): string {
  const fault = validation?.[0]
  const { instancePath = '', params } = fault ?? {}
  const inside = instancePath.slice(1).replaceAll('/', '.')
  const missing = params?.missingProperty ?? params?.additionalProperty
  const field = [inside, missing].filter(Boolean).join('.') || (validationContext ?? 'request')
  return `${field}: ${explainFault(fault ?? {})}`
}

/** Counts the error if the caller of a model call is known, as after an unreadable body. */
function refuseCaller(
  deps: ErrorDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  refused: Refusal,
): FastifyReply {
  const caller = checkedCallers.get(request)
  if (caller && !hasLeft(reply.raw)) noteRefusal(deps, caller, { refused, key: caller.key })
  return sendRefusal(request, reply, refused)
}

function sendRefusal(
  request: FastifyRequest,
  reply: FastifyReply,
  refused: Refusal,
  format = errorFormatOf(pathOf(request)),
): FastifyReply {
  return reply
    .code(refused.status)
    .type('application/json; charset=utf-8')
    .send(format.bodyOf(refused, request.id))
}
