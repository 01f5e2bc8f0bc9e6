import type { FastifyRequest } from 'fastify'
import { plainIp } from '../../customers/ip-allowlist.ts'
import { ipSubject } from '../../gateway/limits.ts'
import { refusals } from '../../gateway/refusal.ts'
import type { ServeCall } from '../../gateway/serve-call.ts'
import { proxyErrorBody, type ModelCallContract } from './model-call-schemas.ts'
import type { ModelCallDeps } from './model-call-deps.ts'
import type { Route } from '../rest/route.ts'
import { createHttpClient } from './http-client.ts'
import { KEY_ID_HEADER, keyOfSession } from './key-of-session.ts'

/** A route that answers model calls of one kind. */
export function modelCallRoute<Body>(declared: {
  readonly url: string
  readonly contract: ModelCallContract
  readonly isBodyStreamed?: boolean
  /** Returns the function that serves one server's calls, and the one that reads a request's body. */
  readonly serving: (deps: ModelCallDeps) => {
    readonly serveCall: ServeCall<Body>
    readonly bodyOf: (request: FastifyRequest) => Body
  }
}): Route<ModelCallDeps> {
  const { url, contract, isBodyStreamed = false, serving } = declared
  return {
    method: 'POST',
    url,
    // The gateway itself authenticates calls, by `admit`; keys of every scope may call models.
    access: 'calls',
    schema: describe(contract),
    isBodyStreamed,
    handlersOf(deps) {
      const { serveCall, bodyOf } = serving(deps)
      return {
        // The gateway validates; the schema only describes.
        validatorCompiler: () => () => true,
        async handler(request, reply) {
          const receivedAtMs = performance.now()
          const client = createHttpClient(request, reply, deps.publicUrl)
          const ip = plainIp(request.ip)
          const { authorization, 'x-svc-session-id': sessionId } = request.headers
          try {
            await serveCall(
              {
                requestId: request.id,
                authorization,
                findKey: keyOfSession(deps, request),
                sessionId: Array.isArray(sessionId) ? sessionId.join() : sessionId,
                ip,
                body: bodyOf(request),
                receivedAtMs,
              },
              client,
            )
          } catch (error) {
            deps.log.error('model_call_failed', { requestId: request.id, path: url, error })
            if (reply.raw.headersSent) reply.raw.destroy()
            else
              client.refuse(
                refusals.internalError(),
                deps.limits.lastKnown(ipSubject(ip, deps.ipRequestsPerMinute)),
              )
          }
        },
      }
    },
  }
}

const REFUSALS: Readonly<Record<number, string>> = {
  400: 'invalid_request',
  401: 'authentication_failed',
  402: 'insufficient_balance, balance_on_hold, key_budget_exceeded, team_cap_exceeded',
  403: 'ip_blocked_by_allowlist, key_model_access_denied, account_suspended',
  404: 'model_not_found',
  413: 'invalid_request',
  429: 'rate_limit_exceeded, api_key_rate_limited',
  500: 'internal_error',
  502: 'upstream_error',
  503: 'service_unavailable',
}

const KEY_OF_SESSION = {
  type: 'object',
  properties: {
    [KEY_ID_HEADER]: {
      type: 'string',
      format: 'uuid',
      description: 'Numa sessão do painel, com o x-csrf-token dela: a chave que paga a chamada.',
    },
  },
}

function describe({ summary, body, bodyType, answer }: ModelCallContract): object {
  return {
    tags: ['Modelos'],
    summary,
    security: [{ key: [] }, { session: [] }],
    consumes: [bodyType],
    headers: KEY_OF_SESSION,
    body,
    response: {
      200: { ...answer, description: 'A resposta do modelo, com o que custou.' },
      ...Object.fromEntries(
        Object.entries(REFUSALS).map(([status, description]) => [
          status,
          { ...proxyErrorBody, description },
        ]),
      ),
    },
  }
}

/** The bytes of a fully read body. */
export function bytesOf({ body }: FastifyRequest): Buffer {
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0)
}
