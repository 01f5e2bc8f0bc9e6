/** What an operator looks at first: what waits for one, what is broken, and how the upstreams answer. */
import Type from 'typebox'
import { listFailingMails, listFailingWebhooks } from '../../deliveries/list-failing.ts'
import { listFactorResets } from '../../identity/sign-in/reset-second-factor.ts'
import { countPendingPrices } from '../../money/catalog/price-updates.ts'
import { findServicePause } from '../../money/catalog/service-pause.ts'
import { listAdjustments } from '../../money/ledger/adjustments.ts'
import { listRefunds } from '../../money/payments/refunds/refunds.ts'
import { countOpenDiscrepancies } from '../../money/reconciliation/discrepancies.ts'
import { sumAttempts } from '../../platform/health/health-summaries.ts'
import { listIncidents } from '../../platform/health/incidents.ts'
import type { HttpParts } from '../rest/parts.ts'
import { restRoute } from '../rest/rest-route.ts'
import { answer, count, dateTime, uuid } from '../rest/values.ts'

type Deps = Pick<HttpParts, 'db'>

/** Longer lists count as this many. */
const COUNTED_MAX = 100
const HOURS = 24
const page = { after: undefined, limit: COUNTED_MAX }

const upTo = { ...count, maximum: COUNTED_MAX, description: `${COUNTED_MAX}: ou mais.` }

export const operatorOverviewRoutes = [
  restRoute({
    method: 'GET',
    path: '/admin/overview',
    tag: 'Administração',
    summary: 'O que espera por um operador, o que falha e como respondem os provedores',
    access: 'support',
    answer: answer({
      at: dateTime,
      is_paused: Type.Boolean({ description: 'Todas as chamadas de modelos.' }),
      open_incidents: upTo,
      waiting: answer({
        adjustments: upTo,
        refunds: upTo,
        prices: count,
        second_factors: Type.Array(
          answer({ customer_id: uuid, requested_by: uuid, requested_at: dateTime }),
          { description: 'Pedidos de desligar a verificação em duas etapas de um cliente.' },
        ),
      }),
      failing: answer({ webhooks: upTo, mails: upTo }),
      open_differences: count,
      upstreams: Type.Array(answer({ upstream: Type.String(), calls: count, failed: count }), {
        description: `As tentativas das últimas ${HOURS} horas, as que mais falharam primeiro.`,
      }),
    }),
    handle: (_call, { db }: Deps) => readOverview(db),
  }),
]

async function readOverview(db: Deps['db']) {
  // Sequential: one connection, however many operators watch.
  const pause = await findServicePause(db)
  const incidents = await listIncidents(db, { ...page, onlyOpen: true })
  const pending = { ...page, status: 'pending', customerId: undefined } as const
  const adjustments = await listAdjustments(db, pending)
  const refunds = await listRefunds(db, { status: 'requested', limit: COUNTED_MAX })
  const prices = await countPendingPrices(db)
  const resets = await listFactorResets(db)
  const webhooks = await listFailingWebhooks(db, page)
  const mails = await listFailingMails(db, page)
  const differences = await countOpenDiscrepancies(db)
  const upstreams = await sumAttempts(db, HOURS)
  return {
    at: new Date().toISOString(),
    is_paused: pause !== undefined,
    open_incidents: incidents.length,
    waiting: {
      adjustments: adjustments.length,
      refunds: refunds.length,
      prices,
      second_factors: resets.map(({ id, requestedBy, requestedAt }) => ({
        customer_id: id,
        requested_by: requestedBy,
        requested_at: requestedAt.toISOString(),
      })),
    },
    failing: { webhooks: webhooks.length, mails: mails.length },
    open_differences: differences,
    upstreams: upstreams.map(({ upstreamId, calls, failed }) => ({
      upstream: upstreamId,
      calls: Number(calls),
      failed: Number(failed),
    })),
  }
}
