import Type from 'typebox'
import { API_KEY_STATUSES } from '../../customers/api-key-details.ts'
import { listKeySummaries, type KeySummary } from '../../customers/key-summaries.ts'
import { jsonBrl, jsonUsd } from '../../platform/lib/money.ts'
import { percentOf } from '../../platform/lib/percent-of.ts'
import { sumUsageByKey, type KeyUsage } from '../../money/usage/sum-usage.ts'
import { addUp, byCost, NO_USAGE } from '../../money/usage/usage-windows.ts'
import type { AnswerOf } from '../rest/answer-of.ts'
import { answer, brl, count, nullable, usd, uuid, wholeNumber } from '../rest/values.ts'
import type { HttpParts } from '../rest/parts.ts'
import { restRoute } from '../rest/rest-route.ts'

type Deps = Pick<HttpParts, 'db' | 'primary'>

const DAYS_DEFAULT = 30
const DAYS_MAX = 365
const TOP_MODELS = 3
const NOT_USED: KeyUsage = { ...NO_USAGE, models: [] }

const keyUsage = answer({
  api_key_id: uuid,
  name: Type.String(),
  last_four: Type.String(),
  status: Type.Enum([...API_KEY_STATUSES]),
  team_id: nullable(uuid),
  requests: Type.Integer({ minimum: 0, description: 'Chamadas cobradas.' }),
  failed_requests: Type.Integer({
    minimum: 0,
    description: 'Chamadas que falharam e não custaram nada.',
  }),
  prompt_tokens: count,
  completion_tokens: count,
  cost_billed_brl: brl,
  cost_upstream_usd: usd,
  top_models: Type.Array(
    answer({ model_id: Type.String(), requests: count, cost_billed_brl: brl }),
    { maxItems: TOP_MODELS, description: 'Os que mais custaram.' },
  ),
  share_percent: Type.Number({
    minimum: 0,
    maximum: 100,
    description: 'Parte do custo de todas as chaves, com duas casas.',
  }),
})

/** The usage of each key. Revoked keys are listed only if they were used; other keys always. */
export const usageByKeyRoutes = [
  restRoute({
    method: 'GET',
    path: '/usage/by-key',
    tag: 'Uso',
    summary: 'O uso de cada chave nos últimos dias',
    access: 'account',
    readsFrom: 'replica',
    query: { days: wholeNumber(1, DAYS_MAX, DAYS_DEFAULT) },
    answer: answer({ days: Type.Integer(), keys: Type.Array(keyUsage) }),
    async handle({ caller, query }, deps: Deps) {
      const { days = DAYS_DEFAULT } = query
      const byKey = await sumUsageByKey(deps.db, caller.customerId, days)
      const keys = await listKeySummaries(deps.primary, caller.customerId, [...byKey.keys()])
      const total = addUp([...byKey.values()]).costBilledNanoBrl
      return {
        days,
        keys: keys
          .map((key) => ({ key, usage: byKey.get(key.id) ?? NOT_USED }))
          .sort((left, right) => byCost(left.usage, right.usage))
          .map(({ key, usage }) => keyUsageBody(key, usage, total)),
      }
    },
  }),
]

function keyUsageBody(
  key: KeySummary,
  usage: KeyUsage,
  totalNanoBrl: bigint,
): AnswerOf<typeof keyUsage> {
  return {
    api_key_id: key.id,
    name: key.name,
    last_four: key.lastFour,
    status: key.status,
    team_id: key.teamId,
    requests: usage.requests,
    failed_requests: usage.failedRequests,
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    cost_billed_brl: jsonBrl(usage.costBilledNanoBrl),
    cost_upstream_usd: jsonUsd(usage.costUpstreamPicoUsd),
    top_models: usage.models
      .filter(({ requests, costBilledNanoBrl }) => requests !== 0 || costBilledNanoBrl !== 0n)
      .slice(0, TOP_MODELS)
      .map(({ modelId, requests, costBilledNanoBrl }) => ({
        model_id: modelId,
        requests,
        cost_billed_brl: jsonBrl(costBilledNanoBrl),
      })),
    share_percent: percentOf(usage.costBilledNanoBrl, totalNanoBrl),
  }
}
