import Type from 'typebox'
import { operationOf, type Model } from '../../money/catalog/model.ts'
import { suggestModels, type ModelSuggestion } from '../../money/catalog/suggest-models.ts'
import { brlPer1kTokens } from '../../platform/lib/brl-text.ts'
import { jsonBrl, type ExactNumber, type NanoBrl } from '../../platform/lib/money.ts'
import { percentOf } from '../../platform/lib/percent-of.ts'
import { sumSavings } from '../../money/usage/savings.ts'
import { sumUsageByModel, type ModelUsage } from '../../money/usage/sum-usage.ts'
import { addUp } from '../../money/usage/usage-windows.ts'
import type { AnswerOf } from '../rest/answer-of.ts'
import { answer, brl, count, nullable, wholeNumber } from '../rest/values.ts'
import type { HttpParts } from '../rest/parts.ts'
import { restRoute } from '../rest/rest-route.ts'

type Deps = Pick<HttpParts, 'db' | 'catalog' | 'fxRate'>

const DAYS_DEFAULT = 30
const DAYS_MIN = 7
const DAYS_MAX = 90

const perTokens = {
  ...nullable(Type.Number()),
  description:
    'BRL por mil tokens (prompt e resposta) do seu próprio uso; null no que não é cobrado por tokens de texto.',
}

const suggestion = answer({
  model_id: Type.String(),
  model_name: Type.String(),
  projected_cost_brl: Type.Number({
    description:
      'O mesmo uso neste modelo, com os preços, o câmbio e a margem de hoje. Supõe o mesmo número de tokens, todo o prompt fora do cache e a faixa de preço do prompt médio. O que os tokens não explicam (áudio, câmbio de outros dias) fica como foi cobrado.',
  }),
  brl_per_1k_tokens: brl,
  saving_brl: brl,
  saving_percent: Type.Number({ minimum: 0, maximum: 100 }),
})

const modelUse = answer({
  model_id: Type.String(),
  model_name: Type.String(),
  requests: count,
  prompt_tokens: count,
  completion_tokens: count,
  cost_billed_brl: brl,
  brl_per_1k_tokens: perTokens,
  suggestions: Type.Array(suggestion, {
    maxItems: 3,
    description:
      'Modelos de chat que fazem o mesmo (ferramentas, imagens, áudio, contexto) por ao menos 10% e R$ 0,01 menos. Nunca de embeddings: os vetores de outro modelo não servem num índice que já existe. Nem de imagens, áudio e vídeo: cada modelo os conta a seu modo.',
  }),
})

export const recommendationRoutes = [
  restRoute({
    method: 'GET',
    path: '/me/recommendations',
    tag: 'Uso',
    summary: 'Modelos mais baratos para o uso que você faz',
    access: 'account',
    readsFrom: 'replica',
    query: { days: wholeNumber(DAYS_MIN, DAYS_MAX, DAYS_DEFAULT) },
    answer: answer({
      days: Type.Integer(),
      brl_per_1k_tokens: perTokens,
      models: Type.Array(modelUse),
      cache_saved_brl: Type.Number({
        description:
          'O que o cache dos modelos e as respostas reaproveitadas já economizaram nesses dias, em BRL: a soma de cache_saved_brl das chamadas, até as 20.000 mais novas.',
      }),
      routing_saved_brl: Type.Number({
        description:
          'O que a escolha da rota já economizou, contado do mesmo modo: a soma de routing_saved_brl.',
      }),
      total_saving_brl: Type.Number({
        description: 'Com a melhor sugestão de cada modelo, em BRL.',
      }),
    }),
    async handle({ caller, query }, deps: Deps) {
      const { days = DAYS_DEFAULT } = query
      const [byModel, saved] = await Promise.all([
        sumUsageByModel(deps.db, caller.customerId, days),
        sumSavings(deps.db, caller.customerId, days),
      ])
      const used = byModel
        .filter(({ requests }) => requests > 0)
        .map((usage) => ({ usage, ...compared(deps, usage) }))
      const total = addUp(
        used.filter(({ model }) => isBilledByTokens(model)).map(({ usage }) => usage),
      )
      return {
        days,
        brl_per_1k_tokens: jsonOrNull(brlPer1kTokens(total.costBilledNanoBrl, total)),
        models: used.map(({ usage, model, suggestions }) => modelBody(usage, model, suggestions)),
        cache_saved_brl: jsonBrl(saved.byCaches),
        routing_saved_brl: jsonBrl(saved.byRouting),
        total_saving_brl: jsonBrl(
          used.reduce((sum, { suggestions: [best] }) => sum + (best?.savingNanoBrl ?? 0n), 0n),
        ),
      }
    },
  }),
]

interface Compared {
  /** Undefined if the model is no longer in the catalog. */
  readonly model: Model | undefined
  readonly suggestions: readonly ModelSuggestion[]
}

function compared({ catalog, fxRate }: Deps, mix: ModelUsage): Compared {
  const model = catalog.findModel(mix.modelId)
  const fxRateE4 = fxRate.current()?.rateE4
  if (!model || fxRateE4 === undefined) return { model, suggestions: [] }
  return { model, suggestions: suggestModels(catalog.listModels(), { model, mix, fxRateE4 }) }
}

/** For a model that is no longer in the catalog, only its tokens are known. */
function isBilledByTokens(model: Model | undefined): boolean {
  return model === undefined || ['chat', 'embeddings'].includes(operationOf(model))
}

function modelBody(
  usage: ModelUsage,
  model: Model | undefined,
  suggestions: readonly ModelSuggestion[],
): AnswerOf<typeof modelUse> {
  return {
    model_id: usage.modelId,
    model_name: model?.displayName ?? usage.modelId,
    requests: usage.requests,
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    cost_billed_brl: jsonBrl(usage.costBilledNanoBrl),
    brl_per_1k_tokens: isBilledByTokens(model)
      ? jsonOrNull(brlPer1kTokens(usage.costBilledNanoBrl, usage))
      : null,
    suggestions: suggestions.map(({ model: other, projectedNanoBrl, savingNanoBrl }) => ({
      model_id: other.id,
      model_name: other.displayName,
      projected_cost_brl: jsonBrl(projectedNanoBrl),
      // A suggestion is computed from used tokens, so the sum is not zero.
      brl_per_1k_tokens: jsonBrl(brlPer1kTokens(projectedNanoBrl, usage) ?? 0n),
      saving_brl: jsonBrl(savingNanoBrl),
      saving_percent: percentOf(savingNanoBrl, usage.costBilledNanoBrl),
    })),
  }
}

function jsonOrNull(amount: NanoBrl | null): ExactNumber | null {
  return amount === null ? null : jsonBrl(amount)
}
