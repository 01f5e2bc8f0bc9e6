import Type from 'typebox'
import { MODEL_CATEGORIES, type Model } from '../../catalog/model.ts'
import { jsonE4 } from '../../lib/money.ts'
import { answer, nullable } from '../rest/values.ts'
import type { ModelDeps } from './model-deps.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'
import { restRoute } from '../rest/rest-route.ts'

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
  upstream: Type.String({ description: 'Quem faz o modelo.' }),
  markup_multiplier: Type.Number(),
  description: nullable(Type.String()),
  available: Type.Boolean({ description: 'false: no momento nenhum provedor atende o modelo.' }),
}

export const modelRoutes = [
  restRoute({
    method: 'GET',
    path: '/models',
    tag: 'Modelos',
    summary: 'O catálogo de modelos',
    access: 'public',
    // `chat` is an alias for `llm`.
    query: { category: Type.Optional(Type.Enum([...MODEL_CATEGORIES, 'chat'])) },
    answer: answer({
      models: Type.Array(answer(described)),
      // Client libraries read these two fields.
      object: Type.Literal('list'),
      data: Type.Array(answer(listed)),
    }),
    isTagged: true,
    handle({ query }, deps: ModelDeps) {
      const models = deps.catalog.listModels(query.category)
      return {
        models: models.map(catalogEntry),
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
    refusals: { 404: ['model_not_found'] },
    handle({ params }, deps: ModelDeps) {
      const model = deps.catalog.findModel(params['*'])
      if (!model) throw new RestRefusal(404, 'model_not_found')
      return { ...listEntry(model), ...catalogEntry(model) }
    },
  }),
]

function catalogEntry(model: Model) {
  return {
    id: model.id,
    display_name: model.displayName,
    category: model.category,
    upstream: model.vendor,
    markup_multiplier: jsonE4(model.markupE4),
    description: model.description,
    available: model.routes.length > 0,
  }
}

function listEntry(model: Model) {
  return { id: model.id, object: 'model' as const, created: 0, owned_by: model.vendor }
}
