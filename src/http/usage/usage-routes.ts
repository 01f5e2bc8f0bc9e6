import Type from 'typebox'
import { balanceFields, findBalance } from '../../money/ledger/find-balance.ts'
import { listUsageEvents } from '../../money/usage/list-usage-events.ts'
import { usageEvent, usageEventBody } from './usage-event.ts'
import { balanceShape, answer, brl, count, usd, wholeNumber } from '../rest/values.ts'
import { nextCursor } from '../rest/cursor.ts'
import type { HttpParts } from '../rest/parts.ts'
import { restRoute } from '../rest/rest-route.ts'
import { archivedBefore, readUsagePage, usageListQuery } from './usage-list-query.ts'
import { jsonBrl, jsonUsd } from '../../platform/lib/money.ts'
import { sumUsageByModel } from '../../money/usage/sum-usage.ts'
import { addUp } from '../../money/usage/usage-windows.ts'

type Deps = Pick<HttpParts, 'db' | 'primary' | 'catalog'>

/** The newest charges that `GET /usage` shows; the paged list and the exports have all of them. */
const EVENTS_MAX = 100

export const usageRoutes = [
  restRoute({
    method: 'GET',
    path: '/usage',
    tag: 'Uso',
    summary: 'O saldo e as cobranças mais novas',
    access: 'calls',
    answer: answer({
      balance: answer(balanceShape),
      usage_events: Type.Array(usageEvent),
    }),
    async handle({ caller: { customerId } }, deps: Deps) {
      const balance = await findBalance(deps.db, customerId)
      const events = await listUsageEvents(deps.db, { customerId, limit: EVENTS_MAX })
      return {
        balance: balanceFields(balance),
        usage_events: events.map(usageEventBody),
      }
    },
  }),

  restRoute({
    method: 'GET',
    path: '/usage/events',
    tag: 'Uso',
    summary: 'As cobranças, das mais novas para as mais antigas, página por página',
    access: 'account',
    readsFrom: 'replica',
    query: usageListQuery,
    answer: answer({
      usage_events: Type.Array(usageEvent),
      next_cursor: nextCursor,
      archived_before: archivedBefore,
    }),
    async handle({ caller: { customerId }, query }, deps: Deps) {
      const { page, ...rest } = await readUsagePage(deps.primary, customerId, query, (list) =>
        listUsageEvents(deps.db, list),
      )
      return { usage_events: page.map(usageEventBody), ...rest }
    },
  }),
]

const DAYS_DEFAULT = 30
const DAYS_MAX = 365
const TOP_MODELS = 3

const summary = answer({
  period_days: Type.Integer(),
  ...balanceShape,
  period_totals: answer(
    {
      requests: count,
      cost_billed_brl: brl,
      cost_upstream_usd: usd,
      prompt_tokens: count,
      completion_tokens: count,
    },
    { description: 'As cobranças dos últimos dias do seu fuso horário, hoje incluído.' },
  ),
  top_models: Type.Array(
    answer({
      model_id: Type.String(),
      model_name: Type.String(),
      requests: count,
      cost_billed_brl: brl,
    }),
    { maxItems: TOP_MODELS, description: 'Os que mais custaram.' },
  ),
  unique_models_used: count,
})

export const usageSummaryRoutes = [
  restRoute({
    method: 'GET',
    path: '/me/usage-summary',
    tag: 'Uso',
    summary: 'O uso dos últimos dias em resumo',
    access: 'account',
    readsFrom: 'replica',
    query: { days: wholeNumber(1, DAYS_MAX, DAYS_DEFAULT) },
    answer: summary,
    async handle({ caller, query }, deps: Deps) {
      const { days = DAYS_DEFAULT } = query
      const [balance, byModel] = await Promise.all([
        findBalance(deps.primary, caller.customerId),
        sumUsageByModel(deps.db, caller.customerId, days),
      ])
      const models = byModel.filter(
        ({ requests, costBilledNanoBrl }) => requests !== 0 || costBilledNanoBrl !== 0n,
      )
      const total = addUp(models)
      return {
        period_days: days,
        ...balanceFields(balance),
        period_totals: {
          requests: total.requests,
          cost_billed_brl: jsonBrl(total.costBilledNanoBrl),
          cost_upstream_usd: jsonUsd(total.costUpstreamPicoUsd),
          prompt_tokens: total.promptTokens,
          completion_tokens: total.completionTokens,
        },
        top_models: models.slice(0, TOP_MODELS).map(({ modelId, requests, costBilledNanoBrl }) => ({
          model_id: modelId,
          // A model may have been removed from the catalog since.
          model_name: deps.catalog.findModel(modelId)?.displayName ?? modelId,
          requests,
          cost_billed_brl: jsonBrl(costBilledNanoBrl),
        })),
        unique_models_used: models.length,
      }
    },
  }),
]
