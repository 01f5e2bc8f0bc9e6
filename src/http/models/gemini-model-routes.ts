/** The catalog in the format of Google's Gemini API: the models that can be called in it. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { nearestModels } from '../../money/catalog/nearest-models.ts'
import { operationOf, type Model, type ModelOperation } from '../../money/catalog/model.ts'
import { refusals, type Refusal } from '../../gateway/calls/refusal.ts'
import { errorFormatOf } from '../rest/error-formats.ts'
import type { HttpParts } from '../rest/parts.ts'
import { hiddenRoute } from '../rest/route.ts'
import { sendTaggedJson, tagJson } from '../rest/send-tagged-json.ts'
import { VARY, visibleTo } from './model-routes.ts'

type Deps = Pick<HttpParts, 'catalog' | 'keys' | 'restLimits'>

const METHODS: Readonly<Partial<Record<ModelOperation, readonly string[]>>> = {
  chat: ['generateContent', 'streamGenerateContent', 'countTokens'],
  embeddings: ['embedContent', 'batchEmbedContents'],
}
const PAGE_SIZE = 50
const PAGE_SIZE_MAX = 1_000

export const geminiModelRoutes = [
  hiddenRoute({
    method: 'GET',
    url: '/v1beta/models',
    access: 'public',
    async handle(request, reply, deps: Deps) {
      reply.header('vary', VARY)
      const models = await listVisible(deps, request)
      if (!models) return refuse(request, reply, refusals.authenticationFailed())
      const { pageSize, pageToken } = request.query as Record<string, unknown>
      const size = pageSize === undefined ? PAGE_SIZE : Number(pageSize)
      if (!Number.isInteger(size) || size < 0)
        return refuse(
          request,
          reply,
          refusals.invalidRequest(
            `O campo "pageSize" deve ser um número inteiro de 1 a ${PAGE_SIZE_MAX}.`,
          ),
        )
      // As in the list of Messages, an unknown place gives an empty page.
      const place = models.findIndex(({ id }) => id === pageToken)
      const rest = pageToken ? models.slice(place === -1 ? models.length : place + 1) : models
      const page = rest.slice(0, Math.min(size || PAGE_SIZE, PAGE_SIZE_MAX))
      const next = page.length < rest.length ? { nextPageToken: page.at(-1)?.id } : {}
      return sendTaggedJson(request, reply, tagJson({ models: page.map(modelOf), ...next }))
    },
  }),

  // An id may have slashes.
  hiddenRoute({
    method: 'GET',
    url: '/v1beta/models/*',
    access: 'public',
    async handle(request, reply, deps: Deps) {
      reply.header('vary', VARY)
      const models = await listVisible(deps, request)
      if (!models) return refuse(request, reply, refusals.authenticationFailed())
      const { '*': name } = request.params as { '*': string }
      const id = deps.catalog.findNamed(name)?.id
      const model = models.find((each) => each.id === id)
      if (model) return sendTaggedJson(request, reply, tagJson(modelOf(model)))
      const nearest = nearestModels(
        name,
        models.map((each) => each.id),
      )
      return refuse(request, reply, refusals.modelNotFound(name, nearest))
    },
  }),
]

/** Undefined for a wrong key. */
async function listVisible(deps: Deps, request: FastifyRequest): Promise<Model[] | undefined> {
  const isVisible = await visibleTo(deps, request)
  return (
    isVisible &&
    deps.catalog.listModels().filter((model) => METHODS[operationOf(model)] && isVisible(model))
  )
}

function refuse(request: FastifyRequest, reply: FastifyReply, refused: Refusal): FastifyReply {
  return reply
    .code(refused.status)
    .type('application/json; charset=utf-8')
    .send(errorFormatOf(request.url).bodyOf(refused, request.id))
}

function modelOf(model: Model) {
  const { id, displayName, description, contextTokens, outputTokensMax } = model
  return {
    name: `models/${id}`,
    version: '001',
    displayName,
    ...(description === null ? {} : { description }),
    inputTokenLimit: contextTokens,
    outputTokenLimit: outputTokensMax,
    supportedGenerationMethods: METHODS[operationOf(model)],
  }
}
