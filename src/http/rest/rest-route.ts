/**
 * Routes of the REST kind. Their schemas validate the input, describe the API (`/v1/openapi.json`), and are what the
 * contract test checks every answer against.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import Type, { type Static, type TObject, type TProperties, type TSchema } from 'typebox'
import type { AnswerOf } from './answer-of.ts'
import {
  answerOnce,
  hasIdempotencyKey,
  IDEMPOTENCY_REFUSALS,
  idempotencyHeaders,
  runOnce,
  type AfterCommit,
  type Repeats,
  type Run,
  type Subject,
} from './answer-once.ts'
import { assertAccess, type AssertAccessDeps } from './assert-access.ts'
import { authenticate, type AuthenticateDeps, type Caller } from './authenticate.ts'
import { hasAccess, isOperatorAccess, scopeOf, type Access } from './access.ts'
import { countUnread } from './count-unread.ts'
import { clientErrorsOf, type ErrorFormat } from './error-formats.ts'
import { restErrorBody } from './values.ts'
import { sendJson, RestRefusal, toRestRefusal } from './rest-refusal.ts'
import { customerSubject } from '../../gateway/calls/limits.ts'
import { readJsonBody } from '../../gateway/calls/read-request.ts'
import { isRefusal } from '../../gateway/calls/refusal.ts'
import { PACED_FROM_BYTES } from './paced-from-bytes.ts'
import { setBodyOwner } from '../server/read-body.ts'
import type { Database } from '../../platform/db/open.ts'
import type { ReadReplicas } from '../../platform/db/replicas/open-read-replicas.ts'
import type { IdempotencyDeps } from '../../platform/idempotency/act-once.ts'
import type { Pace } from '../../platform/admission/rate.ts'
import type { Share } from '../../platform/admission/share.ts'
import type { Method, ReadsFrom, Route } from './route.ts'
import { sendTaggedJson, tagJson } from './send-tagged-json.ts'

export interface RestRoute<
  Params extends TProperties,
  Query extends TProperties,
  Body extends TSchema,
  Needed extends RestAccess,
  Answer extends TSchema | MediaType,
  Deps,
> {
  readonly method: Method
  /** Under `/v1`, with `:name` for each of `params`. */
  readonly path: string
  readonly tag: RestTag
  /** The effect of the operation, in a few words of Portuguese. */
  readonly summary: string
  readonly access: Needed
  /** A request that needs more than the route does, by its body. */
  readonly stricter?: {
    readonly access: RestAccess
    /** For the matrix of test/acceptance/specification.md. */
    readonly when: string
    applies(body: Static<Body>): boolean
  }
  readonly params?: Params
  readonly query?: Query
  readonly body?: Body
  /** The fields of a multipart form, which the handler reads from the connection. */
  readonly form?: TSchema
  /** The body may be as large as that of a model call. */
  readonly takesLargeBodies?: boolean
  /** Default: 200. */
  readonly status?: number
  /** The schema of the JSON, or the media type of an answer that is not JSON. */
  readonly answer: Answer
  /** Answers with other statuses that are not errors of the REST format, and their meaning. */
  readonly otherAnswers?: Readonly<Record<number, { answer: TSchema; description: string }>>
  /** Keys of teams may call it, too: it shows nothing of the account that pays. */
  readonly takesTeamKeys?: boolean
  /** A request with an `Idempotency-Key` acts once, however often it is sent. */
  readonly repeats?: Repeats
  /** Answers with an `ETag`: a client that has the answer already gets a 304. */
  readonly isTagged?: boolean
  /**
   * Only for what nobody has to see the moment after it changed: `db` is then a replica where the operator has one, and
   * the answer says how old it may be. `primary` stays the primary. Everywhere, this `db` refuses to write, and takes
   * single statements only. Default: `primary`.
   */
  readonly readsFrom?: ReadsFrom
  /** The error codes of this route by status; the codes that every route has are added. */
  readonly refusals?: Readonly<Record<number, readonly string[]>>
  /** Returns the JSON of the answer, or the reply if the handler sent one itself; throws a `RestRefusal` for errors. */
  handle(
    call: RestCall<TObject<Params>, TObject<Query>, Body, Needed>,
    deps: Deps,
  ): Handled<Answer> | Promise<Handled<Answer>>
}

type Handled<Answer> = (Answer extends TSchema ? AnswerOf<Answer> : never) | FastifyReply

export type MediaType =
  | 'application/jsonl'
  | 'application/pdf'
  | 'image/png'
  | 'text/csv'
  | 'text/html'
  | 'video/mp4'

export type RestTag =
  | 'Modelos'
  | 'Uso'
  | 'Sessões'
  | 'Conta'
  | 'Recargas'
  | 'Chaves'
  | 'Prompts'
  | 'Equipes'
  | 'Alertas'
  | 'Webhooks'
  | 'Estado'
  | 'Administração'

export interface RestCall<
  Params extends TSchema,
  Query extends TSchema,
  Body extends TSchema,
  Needed extends RestAccess,
> {
  readonly caller: Needed extends 'public' ? undefined : Caller
  readonly params: Static<Params>
  readonly query: Static<Query>
  readonly body: Static<Body>
  readonly request: FastifyRequest
  /** For headers, and for answers that are not JSON. */
  readonly reply: FastifyReply
  /** What a `resumable` route creates. */
  readonly subject: Subject
  /** Runs the work when the act is committed, before the answer is sent. */
  readonly afterCommit: AfterCommit
}

/** The accesses of this kind of route: the handlers of the others authenticate callers themselves. */
export type RestAccess = Exclude<Access, 'session' | 'signed' | 'machine'>

/** What every route needs to authenticate the caller. */
export type AccessDeps = AuthenticateDeps &
  AssertAccessDeps & {
    readonly idempotency: IdempotencyDeps
    readonly replicas: Pick<ReadReplicas, 'pick' | 'primary'>
    readonly bodies: Share
    readonly pace: Pace
  }

export function restRoute<
  Needed extends RestAccess,
  Answer extends TSchema | MediaType,
  Params extends TProperties = {},
  Query extends TProperties = {},
  Body extends TSchema = Type.TUnknown,
  Deps = unknown,
>(declared: RestRoute<Params, Query, Body, Needed, Answer, Deps>): Route<Deps & AccessDeps> {
  const { method, path, access, stricter, params, query, body, form, status = 200 } = declared
  const { takesLargeBodies = false } = declared
  return {
    method,
    url: `/v1${path}`,
    access,
    takesLargeBodies,
    isBodyStreamed: form !== undefined,
    ...(declared.readsFrom ? { readsFrom: declared.readsFrom } : {}),
    ...(stricter ? { stricter: { access: stricter.access, when: stricter.when } } : {}),
    schema: {
      tags: [declared.tag],
      summary: declared.summary,
      ...(access === 'public' ? {} : { security: securityOf(access, method) }),
      ...(params ? { params: Type.Object(params) } : {}),
      ...(query ? { querystring: Type.Object(query) } : {}),
      ...(declared.repeats ? { headers: idempotencyHeaders } : {}),
      ...(body ? { body } : {}),
      ...(form ? { body: form, consumes: ['multipart/form-data'] } : {}),
      response: responsesOf(declared, status),
    },
    handlersOf: (deps) => ({
      // The form is validated by whoever reads it.
      ...(form ? { validatorCompiler: () => () => true } : {}),
      // Before a body is read: a stranger's body never is.
      async onRequest(request, reply) {
        if (access !== 'public') await identifyCaller(deps, request, reply, declared)
        const caller = callers.get(request)
        if (caller && takesLargeBodies)
          setBodyOwner(request, reply.raw, () => customerSubject(caller.customerId))
      },
      async preValidation(request) {
        if (query) request.query = withNumbers(query, request.query as Record<string, unknown>)
        if (declared.repeats && hasIdempotencyKey(request)) keepRawBody(request)
        if (body && takesLargeBodies) request.body = await parseLarge(deps, request)
        else if (body) request.body = parseJson(request.body)
      },
      async handler(request, reply) {
        const caller = callers.get(request)
        if (caller && stricter?.applies(request.body as never))
          await assertAccess(deps, caller, stricter.access, request.method)
        const run = async ({ db, ...ofRun }: Run): Promise<unknown> => {
          const call = {
            caller: caller as never,
            params: request.params as never,
            query: request.query as never,
            body: request.body as never,
            request,
            reply,
            ...ofRun,
          }
          const own = db ?? (await pickReplica(deps, reply, declared))
          return declared.handle(call, own ? { ...deps, db: own } : deps)
        }
        const { repeats } = declared
        const rawBody = rawBodies.get(request)
        if (repeats && caller && rawBody) {
          const once = { request, reply, caller, rawBody, repeats, status }
          return answerOnce(deps.idempotency, once, run)
        }
        const answer = await runOnce(run)
        // A reply is a promise: the sent answer resolves it to undefined.
        if (answer === reply || answer === undefined) return reply
        return declared.isTagged
          ? sendTaggedJson(request, reply, tagJson(answer))
          : sendJson(reply, answer, status)
      },
      async onSend(request, reply, payload) {
        const caller = callers.get(request)
        if (caller) countUnread(deps.bodies, caller, request, reply, payload)
      },
    }),
  }
}

/** The time before which everything is in the answer; on answers of a replica only. */
export const DATA_AS_OF_HEADER = 'x-data-as-of'

async function pickReplica(
  { replicas }: AccessDeps,
  reply: FastifyReply,
  { readsFrom }: { readonly readsFrom?: ReadsFrom | undefined },
): Promise<Database | undefined> {
  if (readsFrom !== 'replica') return undefined
  const picked = await replicas.pick()
  if (!picked) return replicas.primary
  reply.header(DATA_AS_OF_HEADER, picked.asOf.toISOString())
  return picked.db
}

/** The bodies of requests with an `Idempotency-Key`, as they arrived. */
const rawBodies = new WeakMap<FastifyRequest, Buffer>()

function keepRawBody(request: FastifyRequest): void {
  rawBodies.set(request, Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0))
}

/** The ways to authenticate, each with the access that the route needs. */
function securityOf(access: RestAccess, method: Method): object[] {
  const byKey = hasAccess('operator', access, method) ? [{ key: ['operator'] }] : []
  return isOperatorAccess(access)
    ? [{ session: [access] }, ...byKey]
    : [{ key: [scopeOf(access)] }, { session: [scopeOf(access)] }]
}

/** The caller of each request, from authentication on. */
const callers = new WeakMap<FastifyRequest, Caller>()

async function identifyCaller(
  deps: AccessDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  {
    access,
    takesTeamKeys,
  }: { readonly access: RestAccess; readonly takesTeamKeys?: boolean | undefined },
): Promise<void> {
  const caller = await authenticate(deps, request, reply, { takesTeamKeys })
  if (!caller) return
  await assertAccess(deps, caller, access, request.method)
  callers.set(request, caller)
}

/** Coerces canonical integers; any other text stays as it is, and validation refuses it. */
function withNumbers(fields: TProperties, given: Record<string, unknown>): object {
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => {
      const isNumber = Type.IsInteger(fields[name])
      const isWhole = typeof value === 'string' && /^-?(0|[1-9]\d{0,15})$/.test(value)
      return [name, isNumber && isWhole ? Number(value) : value]
    }),
  )
}

/** Bodies arrive as bytes. */
function parseJson(raw: unknown): unknown {
  if (!Buffer.isBuffer(raw) || raw.length === 0) return {}
  try {
    return JSON.parse(raw.toString('utf8'))
  } catch {
    throw new RestRefusal(400, 'invalid_request', 'body: deve ser JSON')
  }
}

/** A large body is paced, bounded and read as that of a model call: its integers keep their digits. */
async function parseLarge({ pace }: AccessDeps, request: FastifyRequest): Promise<unknown> {
  const raw = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0)
  const caller = callers.get(request)
  if (caller && raw.length > PACED_FROM_BYTES) await pace.wait(caller.customerId, raw.length)
  const read = readJsonBody(raw)
  if (isRefusal(read)) throw toRestRefusal(read)
  return read
}

const DESCRIPTIONS: Readonly<Record<number, string>> = {
  400: 'A requisição tem um erro.',
  401: 'Falta a chave ou a sessão, ou ela não vale. Sem corpo.',
  402: 'Falta saldo, orçamento da chave ou limite da equipe.',
  403: 'Sem permissão.',
  404: 'Não existe, ou não pertence a você.',
  409: 'Conflito com o estado atual.',
  413: 'A requisição é grande demais.',
  422: 'A chave de idempotência já veio em outra requisição.',
  429: 'Requisições demais; o cabeçalho retry-after diz quando tentar de novo.',
  500: 'Erro inesperado. Informe o valor do cabeçalho x-request-id ao suporte.',
  502: 'O modelo falhou. Nada foi cobrado.',
  503: 'O serviço ou o modelo está fora do ar por um momento; o cabeçalho retry-after diz quando tentar de novo.',
}

function responsesOf(
  route: Pick<
    RestRoute<TProperties, TProperties, TSchema, RestAccess, TSchema | MediaType, never>,
    | 'method'
    | 'path'
    | 'access'
    | 'stricter'
    | 'params'
    | 'query'
    | 'body'
    | 'answer'
    | 'otherAnswers'
    | 'isTagged'
    | 'repeats'
    | 'refusals'
  >,
  status: number,
): Record<number, object> {
  const { access, stricter, params, query, body, answer, otherAnswers = {}, refusals = {} } = route
  const errors = clientErrorsOf(`/v1${route.path}`)
  const codes: Record<number, string[]> = {}
  const add = (at: number, ...more: readonly string[]): void => {
    codes[at] = [...(codes[at] ?? []), ...more]
  }
  // A request that may have a body may have an unreadable one.
  if (params || query || body || route.method !== 'GET') add(400, 'invalid_request')
  // A body is read, within the limit, also where none is expected.
  if (route.method !== 'GET') add(413, 'payload_too_large')
  if (access !== 'public') add(403, 'ip_blocked_by_allowlist', 'key_paused', 'forbidden')
  if (access === 'account' || access === 'within' || access === 'manage')
    add(403, 'key_scope_insufficient')
  if (access === 'manage' || stricter?.access === 'manage') add(403, 'beyond_own_key')
  if (access !== 'public') add(403, 'csrf_token_missing')
  if (isOperatorAccess(access)) add(403, 'second_factor_required')
  add(429, 'rate_limit_exceeded')
  add(500, 'internal_error')
  // The database is overloaded or unreachable.
  add(503, 'service_unavailable')
  for (const [at, more] of Object.entries(refusals)) add(Number(at), ...more)
  for (const [at, more] of Object.entries(route.repeats ? IDEMPOTENCY_REFUSALS : {}))
    add(Number(at), ...more)
  const success =
    typeof answer === 'string'
      ? { description: 'Tudo certo.', content: { [answer]: { schema: Type.String() } } }
      : { ...answer, description: 'Tudo certo.' }
  return {
    [status]: success,
    ...(route.isTagged ? { 304: { description: 'Não mudou. Sem corpo.', type: 'null' } } : {}),
    ...Object.fromEntries(
      Object.entries(otherAnswers).map(([at, other]) => [
        at,
        { ...other.answer, description: other.description },
      ]),
    ),
    ...(access === 'public' ? {} : { 401: unauthorized(errors) }),
    ...Object.fromEntries(
      Object.entries(codes).map(([at, list]) => [
        at,
        {
          ...(errors?.schema ?? restErrorBody),
          description: `${DESCRIPTIONS[Number(at)] ?? ''} ${list.join(', ')}`,
        },
      ]),
    ),
  }
}

function unauthorized(errors: ErrorFormat | undefined): object {
  return errors
    ? { ...errors.schema, description: 'Falta a chave, ou ela não vale. authentication_failed' }
    : { description: DESCRIPTIONS[401], type: 'null' }
}
