import type { FastifyReply, FastifyRequest } from 'fastify'
import Type from 'typebox'
import type { Catalog } from '../../money/catalog/catalog.ts'
import { nearestModels } from '../../money/catalog/nearest-models.ts'
import {
  MODEL_CATEGORIES,
  MODEL_OPERATIONS,
  operationOf,
  type Model,
} from '../../money/catalog/model.ts'
import { jsonE4 } from '../../platform/lib/money.ts'
import { answer, date, dateTime, nullable } from '../rest/values.ts'
import { refusals, type Refusal } from '../../gateway/calls/refusal.ts'
import { chatErrors, messagesErrors } from '../rest/error-formats.ts'
import type { HttpParts } from '../rest/parts.ts'
import { sendTaggedJson, tagJson } from '../rest/send-tagged-json.ts'
import { restRoute } from '../rest/rest-route.ts'
import { plainIp } from '../../customers/ip-allowlist.ts'
import type { KeyCache } from '../../customers/key-cache.ts'
import { bearerOf, mayUse } from '../../gateway/calls/admit.ts'
import { authorizationOf } from '../rest/request-headers.ts'
import type { RestLimits } from '../rest/rest-limits.ts'
import { accessFacts } from '../server/access-log.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'

type Deps = Pick<HttpParts, 'catalog' | 'keys' | 'restLimits'>

const category = Type.Enum([...MODEL_CATEGORIES])
const listed = {
  id: Type.String(),
  object: Type.Literal('model'),
  created: Type.Integer(),
  owned_by: Type.String(),
}
const described = {
  id: Type.String(),
  display_name: Type.String(),
  category,
  operation: Type.Enum([...MODEL_OPERATIONS], {
    description: 'O que o modelo faz, com o nome das chamadas dele; a categoria pode ter várias.',
  }),
  upstream: Type.String({ description: 'Quem faz o modelo.' }),
  markup_multiplier: Type.Number(),
  description: nullable(Type.String()),
  available: Type.Boolean({ description: 'false: no momento nenhum provedor atende o modelo.' }),
  ends_on: {
    ...nullable(date),
    description:
      'O dia, em UTC, em que o fabricante encerra o modelo; null sem data anunciada. As chamadas seguem enquanto ele responder.',
  },
  replaced_by: {
    ...nullable(Type.String()),
    description: 'O modelo que o fabricante indica no lugar deste, se está no catálogo.',
  },
  planned: {
    ...nullable(answer({ starts_at: dateTime, markup_multiplier: Type.Number() })),
    description:
      'A próxima mudança de preço já marcada, que GET /model-prices mostra em BRL; null enquanto não há nenhuma.',
  },
}

/** The headers that decide about the shape of the catalog and the models in it. */
export const VARY =
  'authorization, x-api-key, api-key, x-goog-api-key, x-goog-api-client, anthropic-version'
const ONLY_MESSAGES =
  'Só com o cabeçalho anthropic-version, que pede o catálogo no formato Messages.'
const WRONG_KEY = {
  401: { answer: chatErrors.schema, description: 'authentication_failed' },
}
/** With a key. */
const ELSEWHERE = { 403: ['ip_blocked_by_allowlist'] }

export const modelRoutes = [
  restRoute({
    method: 'GET',
    path: '/models',
    tag: 'Modelos',
    summary: 'O catálogo de modelos',
    access: 'public',
    // `chat` is an alias for `llm`.
    query: {
      category: Type.Optional(Type.Enum([...MODEL_CATEGORIES, 'chat'])),
      limit: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 1_000, default: 20, description: ONLY_MESSAGES }),
      ),
      after_id: Type.Optional(Type.String({ description: ONLY_MESSAGES })),
      before_id: Type.Optional(Type.String({ description: ONLY_MESSAGES })),
    },
    answer: answer({
      models: Type.Array(answer(described)),
      // Client libraries read these two fields.
      object: Type.Literal('list'),
      data: Type.Array(answer(listed)),
    }),
    isTagged: true,
    otherAnswers: WRONG_KEY,
    refusals: ELSEWHERE,
    async handle({ query, request, reply }, deps: Deps) {
      const isVisible = await visibleTo(deps, request)
      if (!isVisible) return refuseKey(request, reply)
      const isForMessages = speaksMessages(request)
      const models = deps.catalog
        .listModels(isForMessages ? 'llm' : query.category)
        .filter(isVisible)
      reply.header('vary', VARY)
      if (isForMessages)
        return sendTaggedJson(
          request,
          reply,
          tagJson(messagesModels(models, { limit: 20, ...query })),
        )
      return {
        models: models.map((model) => catalogEntry(deps.catalog, model)),
        object: 'list' as const,
        data: models.map(listEntry),
      }
    },
  }),

  // An id may have slashes.
  restRoute({
    method: 'GET',
    path: '/models/*',
    tag: 'Modelos',
    summary: 'Um modelo do catálogo',
    access: 'public',
    params: { '*': Type.String() },
    answer: answer({ ...listed, ...described }),
    isTagged: true,
    otherAnswers: {
      ...WRONG_KEY,
      404: {
        answer: chatErrors.schema,
        description: 'model_not_found',
      },
    },
    refusals: ELSEWHERE,
    async handle({ params, request, reply }, deps: Deps) {
      const isVisible = await visibleTo(deps, request)
      if (!isVisible) return refuseKey(request, reply)
      const model = deps.catalog.findNamed(params['*'])
      const isForMessages = speaksMessages(request)
      reply.header('vary', VARY)
      if (!model || !isVisible(model)) {
        const ids = deps.catalog
          .listModels()
          .filter(isVisible)
          .map(({ id }) => id)
        const nearest = nearestModels(params['*'], ids)
        return refuse(request, reply, refusals.modelNotFound(params['*'], nearest))
      }
      if (isForMessages) return sendTaggedJson(request, reply, tagJson(messagesModel(model)))
      return { ...listEntry(model), ...catalogEntry(deps.catalog, model) }
    },
  }),
]

function refuseKey(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return refuse(request, reply, refusals.authenticationFailed())
}

/** In the format of the caller's client library. */
function refuse(request: FastifyRequest, reply: FastifyReply, refused: Refusal): FastifyReply {
  const { bodyOf } = speaksMessages(request) ? messagesErrors : chatErrors
  return reply
    .code(refused.status)
    .type('application/json; charset=utf-8')
    .send(bodyOf(refused, request.id))
}

function catalogEntry(catalog: Catalog, model: Model) {
  const planned = catalog.findPlanned(model.id)
  return {
    id: model.id,
    display_name: model.displayName,
    category: model.category,
    operation: operationOf(model),
    upstream: model.vendor,
    markup_multiplier: jsonE4(model.markupE4),
    description: model.description,
    available: model.routes.length > 0,
    ends_on: model.endsOn ?? null,
    replaced_by: catalog.findReplacement(model)?.id ?? null,
    planned: planned
      ? {
          starts_at: planned.startsAt.toISOString(),
          markup_multiplier: jsonE4(planned.model.markupE4),
        }
      : null,
  }
}

function listEntry(model: Model) {
  return { id: model.id, object: 'model' as const, created: 0, owned_by: model.vendor }
}

interface CallerOfCatalogDeps {
  readonly keys: Pick<KeyCache, 'find' | 'isKnown'>
  readonly restLimits: Pick<RestLimits, 'assertMayTryKeys' | 'countWrongKey'>
}

/**
 * Which models a caller of the public catalog sees: without a key all, with a key those that it may call. Undefined for
 * a wrong key, so that a client's test of its settings fails. Throws a `RestRefusal` for an address that the key does not
 * allow, and for too many wrong keys.
 */
export async function visibleTo(
  { keys, restLimits }: CallerOfCatalogDeps,
  request: FastifyRequest,
): Promise<((model: Model) => boolean) | undefined> {
  const authorization = authorizationOf(request.headers)
  if (authorization === undefined) return () => true
  const secret = bearerOf(authorization)
  // A key in use is not refused for the wrong keys of others behind its address.
  if (secret !== undefined && !keys.isKnown(secret)) restLimits.assertMayTryKeys(request)
  const key = secret === undefined ? undefined : await keys.find(secret)
  if (!key) {
    restLimits.countWrongKey(request)
    return undefined
  }
  const facts = accessFacts.get(request)
  if (facts) facts.keyId = key.id
  if (key.ipMatcher && !key.ipMatcher.matches(plainIp(request.ip)))
    throw new RestRefusal(403, 'ip_blocked_by_allowlist')
  return (model) => mayUse(key, model)
}

/** The catalog in the shape of Anthropic's API, for clients that send the header `anthropic-version`. */
interface MessagesPage {
  readonly limit: number
  readonly after_id?: string
  readonly before_id?: string
}

function speaksMessages({ headers }: FastifyRequest): boolean {
  return headers['anthropic-version'] !== undefined
}

/** Models for chats only: no other kind can be called in this format. An unknown id of a page gives an empty page. */
function messagesModels(
  models: readonly Model[],
  { limit, after_id: afterId, before_id: beforeId }: MessagesPage,
) {
  const ids = models.map(({ id }) => id)
  const begin = afterId === undefined ? 0 : after(ids, afterId)
  const end = beforeId === undefined ? models.length : Math.max(0, ids.indexOf(beforeId))
  const between = models.slice(begin, end)
  const isBackwards = beforeId !== undefined && afterId === undefined
  const page = isBackwards ? between.slice(-limit) : between.slice(0, limit)
  return {
    data: page.map(messagesModel),
    first_id: page[0]?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
    has_more: page.length < between.length,
  }
}

function after(ids: readonly string[], id: string): number {
  const index = ids.indexOf(id)
  return index === -1 ? ids.length : index + 1
}

/** The catalog knows no date of release; the format has the epoch for that. */
function messagesModel({ id, displayName, contextTokens, outputTokensMax }: Model) {
  return {
    type: 'model' as const,
    id,
    display_name: displayName,
    created_at: '1970-01-01T00:00:00Z',
    max_input_tokens: contextTokens,
    max_tokens: outputTokensMax,
  }
}
