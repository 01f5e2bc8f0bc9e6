import Type from 'typebox'
import { disableModel, enableModel } from '../../money/catalog/disabled-models.ts'
import { actorOf } from '../rest/authenticate.ts'
import { reason, answer } from '../rest/values.ts'
import type { HttpConfig, HttpParts } from '../rest/parts.ts'
import { restRoute } from '../rest/rest-route.ts'
import { adminModel, getConfigured, listModelBodies, reloadCatalog } from './operator-model-body.ts'

type Deps = Pick<HttpParts, 'db' | 'log' | 'catalog' | 'reloadCatalog'>

/** An id with slashes is written with `%2F`. */
const params = { id: Type.String({ maxLength: 200 }) }
const refusals = { 404: ['model_not_found'] }
const state = answer({ id: Type.String(), is_disabled: Type.Boolean() })

export const operatorModelRoutes = ({ markupNoticeDays }: Pick<HttpConfig, 'markupNoticeDays'>) => [
  restRoute({
    method: 'GET',
    path: '/admin/models',
    tag: 'Administração',
    summary: 'Os modelos, com rotas, preços, o multiplicador em vigor e os que virão',
    access: 'support',
    answer: answer({
      markup_notice_days: Type.Integer({ description: 'De aviso antes de um aumento.' }),
      models: Type.Array(adminModel),
    }),
    handle: async (_call, deps: Deps) => ({
      markup_notice_days: markupNoticeDays,
      models: await listModelBodies(deps),
    }),
  }),
  restRoute({
    method: 'POST',
    path: '/admin/models/:id/disable',
    tag: 'Administração',
    summary: 'Tira um modelo do ar: chamadas recebem 503, e ele continua no catálogo',
    access: 'admin',
    params,
    body: Type.Object({ reason }, { additionalProperties: false }),
    answer: state,
    refusals,
    async handle({ caller, params, body: { reason } }, deps: Deps) {
      const { id } = getConfigured(deps, params.id)
      await disableModel(deps.db, actorOf(caller), { modelId: id, reason })
      await reloadCatalog(deps)
      return { id, is_disabled: true }
    },
  }),
  restRoute({
    method: 'POST',
    path: '/admin/models/:id/enable',
    tag: 'Administração',
    summary: 'Põe um modelo de volta no ar',
    access: 'admin',
    params,
    answer: state,
    refusals,
    async handle({ caller, params }, deps: Deps) {
      const { id } = getConfigured(deps, params.id)
      await enableModel(deps.db, actorOf(caller), { modelId: id })
      await reloadCatalog(deps)
      return { id, is_disabled: false }
    },
  }),
]
