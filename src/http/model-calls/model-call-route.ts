import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { plainIp } from '../../customers/ip-allowlist.ts'
import type { ActiveKey } from '../../customers/key-cache.ts'
import type { CheckCaller, ExpectedBody } from '../../gateway/calls/check-caller.ts'
import type { Client, IncomingCall } from '../../gateway/calls/client.ts'
import { customerSubject, ipSubject, keySubject } from '../../gateway/calls/limits.ts'
import {
  refuseCall,
  type IncomingCaller,
  type RefusalDeps,
} from '../../gateway/calls/refuse-call.ts'
import type { IncomingForm } from '../../gateway/calls/transcriptions/transcription-request.ts'
import { refusalOfExcess, refusals } from '../../gateway/calls/refusal.ts'
import { countUntilClosed } from '../rest/count-unread.ts'
import type { ServeCall } from '../../gateway/calls/serve-call.ts'
import { errorFormatOf, type ErrorFormat } from '../rest/error-formats.ts'
import type { ModelCallContract } from './model-call-schemas.ts'
import type { HttpParts } from '../rest/parts.ts'
import { PACED_FROM_BYTES } from '../rest/paced-from-bytes.ts'
import { authorizationOf } from '../rest/request-headers.ts'
import type { Route } from '../rest/route.ts'
import { accessFacts } from '../server/access-log.ts'
import { checkedCallers, type CheckedCaller } from '../server/explain-fault.ts'
import { codingOf } from '../server/decompress.ts'
import { discardBody } from '../server/discard-body.ts'
import { modelInPath, declaredBytes } from '../server/request-head.ts'
import { setBodyOwner, useBody } from '../server/read-body.ts'
import { withModel } from './with-model.ts'
import { createHttpClient } from './http-client.ts'
import { KEY_ID_HEADER, keyOfSession } from './key-of-session.ts'
import type { KeepAlives } from './keep-alives.ts'
import type { Uploads } from './upload-form.ts'
import { isUuid } from '../../platform/lib/ids.ts'

/** The responses of one connection, which remembers the last of them. */
export interface ResponseConversation extends Disposable {
  readonly create: ServeCall
  /** Remembers a request that another one will continue; its answer says only that it could be answered. */
  readonly prepare: ServeCall
}

/** The kinds of model calls. */
export interface ModelCalls {
  readonly completeChat: ServeCall
  readonly completeText: ServeCall
  readonly createResponse: ServeCall
  readonly compactResponse: ServeCall
  readonly countResponseTokens: ServeCall
  /** For one WebSocket of this customer. */
  readonly openConversation: (customerId: string) => ResponseConversation
  readonly createMessage: ServeCall
  readonly countMessageTokens: ServeCall
  readonly generateContent: ServeCall
  readonly streamContent: ServeCall
  readonly streamContentList: ServeCall
  readonly countContentTokens: ServeCall
  readonly embedContent: ServeCall
  readonly embedContents: ServeCall
  readonly embed: ServeCall
  readonly rerank: ServeCall
  readonly moderate: ServeCall
  readonly generateImages: ServeCall
  readonly editImages: ServeCall
  readonly speak: ServeCall
  readonly transcribe: ServeCall<IncomingForm>
  readonly translate: ServeCall<IncomingForm>
  readonly createVideo: ServeCall
}

export type ModelCallDeps = Pick<
  HttpParts,
  'config' | 'keys' | 'signIn' | 'log' | 'bodies' | 'pace' | 'limits'
> &
  RefusalDeps & {
    readonly modelCalls: ModelCalls
    readonly checkCaller: CheckCaller
    readonly keepAlives: KeepAlives
    readonly uploads: Uploads
  }

/** A route that answers model calls of one kind. */
export function modelCallRoute<Body>(declared: {
  readonly url: string
  /** Left out for a call that `/v1/openapi.json` does not describe, because its format is under another base address. */
  readonly contract?: ModelCallContract
  readonly isBodyStreamed?: boolean
  /** Returns the function that serves one server's calls, and the one that reads a request's body. */
  readonly serving: (deps: ModelCallDeps) => {
    readonly serveCall: ServeCall<Body>
    readonly bodyOf: (request: FastifyRequest) => Body
  }
}): Route<ModelCallDeps> {
  const { url, contract, isBodyStreamed = false, serving } = declared
  const errorFormat = errorFormatOf(url)
  return {
    method: 'POST',
    url,
    // The gateway itself authenticates calls, by `admit`; keys of every scope may call models.
    access: 'calls',
    schema: contract ? describe(contract, errorFormat) : { hide: true },
    isBodyStreamed,
    takesLargeBodies: true,
    handlersOf(deps) {
      const { serveCall, bodyOf } = serving(deps)
      return {
        onRequest: createCheck(deps, isBodyStreamed, errorFormat),
        // The gateway validates; the schema only describes.
        validatorCompiler: () => () => true,
        async handler(request, reply) {
          const checked = checkedCallers.get(request) as CheckedCaller
          const client = createHttpClient(request, reply, {
            publicUrl: deps.config.publicUrl,
            errorFormat,
            keepAlives: deps.keepAlives,
            keep: (bytes) =>
              countUntilClosed(deps.bodies, checked.key.customerId, reply.raw, bytes),
          })
          const body = bodyOf(request)
          const bytes = Buffer.isBuffer(body) ? body.length : 0
          const endUse = useBody(request)
          try {
            if (bytes > PACED_FROM_BYTES) await deps.pace.wait(checked.key.customerId, bytes)
            await serveCall(
              {
                ...checked,
                ...saidInHeaders(request.headers),
                receivedAtMs: performance.now(),
                body,
              },
              client,
            )
          } catch (error) {
            failCall(deps, client, request, reply, error)
          } finally {
            endUse()
          }
        },
      }
    },
  }
}

/** The cap of one call. */
const MAX_COST_HEADER = 'x-svc-max-cost-brl'
/** Whether cached answers may serve a call. */
const CACHE_HEADER = 'x-svc-cache'

/** What the headers of a request say of its call. */
export function saidInHeaders(
  headers: IncomingHttpHeaders,
): Pick<IncomingCall, 'sessionId' | 'flags' | 'maxCostBrl' | 'cache' | 'traceparent'> {
  return {
    sessionId: sessionIdOf(headers),
    flags: flagsOf(headers),
    maxCostBrl: oneText(headers[MAX_COST_HEADER]),
    cache: oneText(headers[CACHE_HEADER]),
    traceparent: oneText(headers.traceparent),
  }
}

function oneText(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header.join() : header
}

/** Checks the caller before the body is read, so that no memory is spent on the body of a refused caller. */
export function createCheck(
  deps: ModelCallDeps,
  isBodyStreamed: boolean,
  errorFormat: ErrorFormat,
) {
  return function check(request: FastifyRequest, reply: FastifyReply, done: () => void): void {
    const caller: IncomingCaller = {
      requestId: request.id,
      authorization: authorizationOf(request.headers),
      findKey: keyOfSession(deps, request),
      ip: plainIp(request.ip),
      facts: accessFacts.get(request),
      receivedAtMs: performance.now(),
    }
    let client: Client | undefined
    const openClient = (): Client =>
      (client = createHttpClient(request, reply, { publicUrl: deps.config.publicUrl, errorFormat }))
    const goOn = (key: ActiveKey | undefined): void => {
      if (!key) return discardBody(request.raw)
      if (isBodyStreamed && codingOf(request.headers)) {
        const refused = refusals.codingRefused()
        refuseCall(
          deps,
          caller,
          openClient(),
          { refused, key },
          deps.limits.lastKnown(keySubject(key)),
        )
        return discardBody(request.raw)
      }
      checkedCallers.set(request, { ...caller, key })
      setBodyOwner(request, reply.raw, () => customerSubject(key.customerId), true)
      done()
    }
    const fail = (error: unknown): void => {
      failCall(deps, client ?? openClient(), request, reply, error)
      discardBody(request.raw)
    }
    const body = expectBody(deps, request, isBodyStreamed)
    let checked: ReturnType<ModelCallDeps['checkCaller']>
    try {
      checked = deps.checkCaller(caller, body, openClient)
    } catch (error) {
      return fail(error)
    }
    if (checked instanceof Promise) void checked.then(goOn, fail)
    else goOn(checked)
  }
}

function expectBody(
  { bodies }: ModelCallDeps,
  request: FastifyRequest,
  isBodyStreamed: boolean,
): ExpectedBody {
  return {
    // Compressed, it may be of any size.
    bytes: codingOf(request.headers) ? undefined : declaredBytes(request),
    findFault(customerId, bytes) {
      // Uploads go to the disk, which has a limit of its own.
      const excess = isBodyStreamed
        ? undefined
        : bodies.findExcess(customerSubject(customerId), bytes)
      return excess && refusalOfExcess(excess)
    },
  }
}

function failCall(
  deps: ModelCallDeps,
  client: Client,
  request: FastifyRequest,
  reply: FastifyReply,
  error: unknown,
): void {
  const { url } = request.routeOptions
  deps.log.error('model_call_failed', { requestId: request.id, path: url, error })
  if (reply.raw.headersSent) return void reply.raw.destroy()
  const limits = deps.limits.lastKnown(
    ipSubject(plainIp(request.ip), deps.config.requestsPerMinutePerIp),
  )
  const refused = refusals.internalError()
  const caller = checkedCallers.get(request)
  if (caller) refuseCall(deps, caller, client, { refused, key: caller.key }, limits)
  else client.refuse(refused, limits)
}

const REFUSALS: Readonly<Record<number, string>> = {
  400: 'invalid_request, context_length_exceeded, content_policy_violation, personal_data_found',
  401: 'authentication_failed',
  402: 'insufficient_balance, key_budget_exceeded, team_cap_exceeded, key_minute_cap_exceeded, key_day_cap_exceeded, key_task_cap_exceeded, max_cost_exceeded',
  403: 'ip_blocked_by_allowlist, key_paused, key_model_access_denied, account_suspended',
  404: 'model_not_found, no_route_for_provider',
  413: 'invalid_request',
  415: 'invalid_request',
  429: 'rate_limit_exceeded, api_key_rate_limited, balance_on_hold, key_minute_cap_exceeded, key_concurrency_exceeded',
  500: 'internal_error',
  502: 'upstream_error',
  503: 'service_unavailable, service_paused',
}

const HEADERS = {
  type: 'object',
  properties: {
    [MAX_COST_HEADER]: {
      type: 'string',
      description:
        'O máximo, em reais, que esta chamada pode custar, como 0.50. Se ela pode custar mais, a saída é limitada; com menos de 64 tokens, a resposta é 402 max_cost_exceeded.',
    },
    [CACHE_HEADER]: {
      type: 'string',
      description:
        'Reaproveitar a resposta de uma chamada igual da mesma conta, em chats e embeddings: por quantos segundos guardar a desta (até 604800), refresh para chamar o modelo e guardar a nova, ou off. Sem ele, vale cache_seconds da chave. A resposta tem o mesmo cabeçalho, com hit ou miss.',
    },
    [KEY_ID_HEADER]: {
      type: 'string',
      format: 'uuid',
      description: 'Numa sessão do painel, com o x-csrf-token dela: a chave que paga a chamada.',
    },
  },
}

function describe(
  { summary, body, bodyType, answer, answerTypes, refusals: own = {} }: ModelCallContract,
  { schema }: ErrorFormat,
): object {
  return {
    tags: ['Modelos'],
    summary,
    security: [{ key: ['calls'] }, { session: ['calls'] }],
    consumes: [bodyType],
    headers: HEADERS,
    body,
    response: {
      200: {
        ...(answerTypes
          ? { content: Object.fromEntries(answerTypes.map((type) => [type, { schema: answer }])) }
          : answer),
        description: 'A resposta do modelo, com o que custou.',
      },
      ...Object.fromEntries(
        Object.entries(REFUSALS).map(([status, description]) => [
          status,
          { ...schema, description: [description, own[Number(status)]].filter(Boolean).join(', ') },
        ]),
      ),
    },
  }
}

/** The flags of new features, each a short word; the Messages format has them in a header. */
function flagsOf({ 'anthropic-beta': header }: IncomingHttpHeaders): string[] | undefined {
  if (header === undefined) return undefined
  return String(header)
    .split(',')
    .map((flag) => flag.trim())
}

/** Returns the bytes of a fully read body. */
export function bytesOf({ body, raw }: FastifyRequest): Buffer {
  if (!Buffer.isBuffer(body)) return Buffer.alloc(0)
  const model = modelInPath(raw)
  return model === undefined ? body : withModel(body, model)
}

/**
 * The usage session of a call: by our own header, or else by the one in which Claude Code names its conversation. Only
 * ours is refused if it is invalid; an empty one is none.
 */
function sessionIdOf({
  'x-svc-session-id': own,
  'x-claude-code-session-id': ofClaudeCode,
}: IncomingHttpHeaders): string | undefined {
  if (own !== undefined && own !== '') return Array.isArray(own) ? own.join() : own
  return typeof ofClaudeCode === 'string' && isUuid(ofClaudeCode) ? ofClaudeCode : undefined
}
