import Type from 'typebox'
import {
  approvePrice,
  listPendingPrices,
  PRICE_UPDATE_KINDS,
  rejectPrice,
  type Answered,
} from '../../money/catalog/price-updates.ts'
import { actorOf } from '../rest/authenticate.ts'
import { answer, dateTime, nullable } from '../rest/values.ts'
import type { HttpConfig, HttpParts } from '../rest/parts.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'
import { restRoute } from '../rest/rest-route.ts'
import { reloadCatalog } from './operator-model-body.ts'

type Deps = Pick<HttpParts, 'db' | 'log' | 'catalog' | 'reloadCatalog'>

/** An id with slashes is written with `%2F`. */
const params = { id: Type.String({ maxLength: 200 }) }
const seen = Type.Object(
  {
    difference: Type.String({
      maxLength: 10_000,
      description: 'A diferença que o operador viu: outra é recusada com 409.',
    }),
  },
  { additionalProperties: false },
)
const answered = answer({
  model_id: Type.String(),
  starts_at: { ...nullable(dateTime), description: 'Quando o preço começa; null: não muda preço.' },
})
const refusals = {
  404: ['price_update_not_found'],
  409: ['price_update_changed', 'price_update_unusable'],
}

export const operatorPriceUpdateRoutes = ({
  markupNoticeDays: noticeDays,
}: Pick<HttpConfig, 'markupNoticeDays'>) => [
  restRoute({
    method: 'GET',
    path: '/admin/price-updates',
    tag: 'Administração',
    summary: 'Preços e modelos novos, dos preços publicados, que esperam uma resposta',
    access: 'support',
    answer: answer({
      price_updates: Type.Array(
        answer({
          model_id: Type.String(),
          kind: Type.Enum([...PRICE_UPDATE_KINDS]),
          difference: Type.String({
            description:
              'Do preço em vigor ao publicado, em USD, e o que a segunda lista diz (`second list agrees`, `second list says …`).',
          }),
          found_at: dateTime,
        }),
      ),
    }),
    handle: async (_call, { db }: Deps) => ({
      price_updates: (await listPendingPrices(db)).map((each) => ({
        model_id: each.modelId,
        kind: each.kind,
        difference: each.difference,
        found_at: each.foundAt.toISOString(),
      })),
    }),
  }),
  restRoute({
    method: 'POST',
    path: '/admin/price-updates/:id/approve',
    tag: 'Administração',
    summary: `Aceita o preço ou o modelo novo; um preço mais alto começa depois de ${noticeDays} dias de aviso`,
    repeats: 'in_transaction',
    access: 'admin',
    params,
    body: seen,
    answer: answered,
    refusals,
    async handle({ caller, params, body: { difference }, afterCommit }, deps: Deps) {
      const models = deps.catalog.listConfigured()
      const given = { modelId: params.id, difference }
      const terms = { models, noticeDays }
      const outcome = await approvePrice(deps.db, actorOf(caller), given, terms)
      afterCommit(() => reloadCatalog(deps))
      return bodyOf(params.id, outcome)
    },
  }),
  restRoute({
    method: 'POST',
    path: '/admin/price-updates/:id/reject',
    tag: 'Administração',
    summary: 'Mantém o preço em vigor, ou o modelo fora do catálogo, até que o publicado mude',
    repeats: 'in_transaction',
    access: 'admin',
    params,
    body: seen,
    answer: answered,
    refusals,
    async handle({ caller, params, body: { difference } }, deps: Deps) {
      const given = { modelId: params.id, difference }
      return bodyOf(params.id, await rejectPrice(deps.db, actorOf(caller), given))
    },
  }),
]

function bodyOf(modelId: string, outcome: Answered) {
  if (outcome.kind === 'answered')
    return { model_id: modelId, starts_at: outcome.startsAt?.toISOString() ?? null }
  throw new RestRefusal(outcome.kind === 'price_update_not_found' ? 404 : 409, outcome.kind)
}
