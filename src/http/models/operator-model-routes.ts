import Type from 'typebox'
import { Value } from 'typebox/value'
import { deleteAddedModel, putAddedModel } from '../../money/catalog/added-models.ts'
import { addedModelSchema, configuredId } from '../../money/catalog/catalog-config-schema.ts'
import { disableModel, enableModel } from '../../money/catalog/disabled-models.ts'
import { actorOf } from '../rest/authenticate.ts'
import { reason, answer, dateTime, isStorableJson, nullable } from '../rest/values.ts'
import type { HttpConfig, HttpParts } from '../rest/parts.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'
import { restRoute } from '../rest/rest-route.ts'
import {
  adminModel,
  getConfigured,
  listModelBodies,
  reloadCatalog,
  type ModelDeps,
} from './operator-model-body.ts'

type Deps = ModelDeps & Pick<HttpParts, 'log' | 'reloadCatalog'>

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
    method: 'PUT',
    path: '/admin/models/:id',
    tag: 'Administração',
    summary:
      'Escreve um modelo como no arquivo de configuração, sem reiniciar: preços, limites e rotas; um aumento vale depois do aviso aos clientes',
    access: 'admin',
    params,
    body: addedModelSchema,
    answer: answer({
      id: Type.String(),
      is_new: Type.Boolean(),
      prices_from: {
        ...nullable(dateTime),
        description: 'Quando valem os preços escritos; null: já valiam, ou o modelo é novo.',
      },
    }),
    refusals: { 409: ['model_in_file'] },
    async handle({ caller, params: { id }, body }, deps: Deps) {
      if (!Value.Check(configuredId, id)) throw invalid('id: só letras, dígitos e . _ : / -')
      if (deps.upstreamBook.isInFile(id)) throw new RestRefusal(409, 'model_in_file')
      const entry = { id, ...body }
      if (!isStorableJson(entry)) throw invalid('há um texto que não é Unicode')
      const written = deps.upstreamBook.readEntry(entry)
      if ('faults' in written) throw invalid(written.faults.join('; '))
      // What another node wrote, too.
      await reloadCatalog(deps)
      const known = await deps.upstreamBook.findKnown(id)
      const put = await putAddedModel(deps.db, actorOf(caller), {
        entry,
        written,
        known,
        noticeDays: markupNoticeDays,
      })
      if (put.kind === 'other_route_prices')
        throw invalid('routes: o preço de uma rota só é escrito com um modelo novo')
      if (put.kind === 'far')
        throw invalid(
          `prices: mais que o dobro ou menos que a metade (${put.text}); na linha de comando, prices set`,
        )
      if (put.kind === 'other_units')
        throw invalid(`prices: o modelo é cobrado por outras unidades (${put.units})`)
      await reloadCatalog(deps)
      return { id, is_new: put.isNew, prices_from: put.startsAt?.toISOString() ?? null }
    },
  }),
  restRoute({
    method: 'DELETE',
    path: '/admin/models/:id',
    tag: 'Administração',
    summary: 'Exclui um modelo escrito aqui; um que existe sem isso volta a ser como era',
    access: 'admin',
    params,
    answer: answer({ id: Type.String(), deleted: Type.Literal(true) }),
    refusals,
    async handle({ caller, params: { id } }, deps: Deps) {
      if (!(await deleteAddedModel(deps.db, actorOf(caller), { id })))
        throw new RestRefusal(404, 'model_not_found')
      await reloadCatalog(deps)
      return { id, deleted: true as const }
    },
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

function invalid(details: string): RestRefusal {
  return new RestRefusal(400, 'invalid_request', details)
}
