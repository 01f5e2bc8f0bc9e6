import type { FastifyInstance } from 'fastify'
import { MODEL_CATEGORIES, type Model } from '../../catalog/model.ts'
import { jsonE4 } from '../../lib/money.ts'
import type { HttpDeps } from '../http-deps.ts'
import { restError, sendJson } from '../rest-error.ts'

/** `chat` is an alias of `llm`. */
const CATEGORIES: readonly string[] = [...MODEL_CATEGORIES, 'chat']

export function addModels(server: FastifyInstance, deps: HttpDeps): void {
  server.get<{ Querystring: { category?: unknown } }>('/v1/models', (request, reply) => {
    const { category } = request.query
    if (category !== undefined && !CATEGORIES.includes(category as string)) {
      return restError(
        reply,
        400,
        'invalid_request',
        `category: must be one of ${CATEGORIES.join(', ')}`,
      )
    }
    const models = deps.catalog.listModels(
      category as Parameters<typeof deps.catalog.listModels>[0],
    )
    // `object` and `data` are the list format that client libraries read.
    return sendJson(reply, {
      models: models.map(catalogEntry),
      object: 'list',
      data: models.map(listEntry),
    })
  })

  // An id may have slashes.
  server.get<{ Params: { '*': string } }>('/v1/models/*', (request, reply) => {
    const model = deps.catalog.findModel(request.params['*'])
    if (!model) return restError(reply, 404, 'model_not_found')
    return sendJson(reply, { ...listEntry(model), ...catalogEntry(model) })
  })
}

function catalogEntry(model: Model): object {
  return {
    id: model.id,
    display_name: model.displayName,
    category: model.category,
    upstream: model.vendor,
    markup_multiplier: jsonE4(model.markupE4),
    description: model.description,
  }
}

function listEntry(model: Model): object {
  return { id: model.id, object: 'model', created: 0, owned_by: model.vendor }
}
