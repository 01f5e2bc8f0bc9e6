/** The discrepancies between our records and those of the processor and the upstreams, for operators. */
import Type from 'typebox'
import { explainDiscrepancy } from '../../money/reconciliation/discrepancies.ts'
import { discrepancyBody, readReport } from '../../money/reconciliation/report.ts'
import { actorOf } from '../rest/authenticate.ts'
import {
  answer,
  count,
  date,
  dateTime,
  nullable,
  storedText,
  uuid,
  wholeNumber,
} from '../rest/values.ts'
import type { HttpParts } from '../rest/parts.ts'
import { ownAccount } from '../rest/access.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'
import { restRoute } from '../rest/rest-route.ts'

type Deps = Pick<HttpParts, 'db'>

const DAYS_DEFAULT = 35
const DAYS_MAX = 365

const literals = <Value extends string>(values: readonly Value[]) =>
  Type.Unsafe<Value>(Type.Union(values.map((value) => Type.Literal(value))))
const amount = Type.Number()

const difference = answer({
  id: uuid,
  kind: literals([
    'payment_without_top_up',
    'paid_there_only',
    'paid_here_only',
    'amount_differs',
    'returned_differs',
    'paid_twice',
    'upstream_cost',
  ]),
  status: literals(['open', 'explained', 'gone']),
  processor: nullable(Type.String()),
  processor_payment_id: nullable(Type.String()),
  topup_id: nullable(uuid),
  upstream: nullable(Type.String()),
  day: nullable(date),
  ours_brl: nullable(amount),
  theirs_brl: nullable(amount),
  difference_brl: nullable(amount),
  ours_usd: nullable(amount),
  theirs_usd: nullable(amount),
  difference_usd: nullable(amount),
  difference_percent: nullable(amount),
  first_seen_at: dateTime,
  last_seen_at: dateTime,
  resolved_at: nullable(dateTime),
  explanation: nullable(Type.String()),
  explained_by: nullable(literals(['operator', 'admin'])),
  explained_at: nullable(dateTime),
})

const sum = answer({ count, difference_brl: amount, difference_usd: amount })

const report = answer({
  days: Type.Integer(),
  payments: answer({
    is_current: Type.Boolean({ description: 'false: a última comparação noturna falta.' }),
    last_finished_at: nullable(dateTime),
    last_run: nullable(
      answer({
        processor: Type.String(),
        from: date,
        to: date,
        started_at: dateTime,
        finished_at: nullable(dateTime),
        failure: nullable(Type.String()),
        payments: count,
        topups: count,
        mended: count,
      }),
    ),
  }),
  sums: answer({ open: sum, explained: sum, gone: sum }),
  differences: Type.Array(difference),
  upstream_days: Type.Array(
    answer({
      upstream: Type.String(),
      day: date,
      ours_usd: amount,
      theirs_usd: amount,
      difference_usd: amount,
      difference_percent: nullable(amount),
      compared_at: dateTime,
    }),
  ),
})

export const operatorReconciliationRoutes = [
  restRoute({
    method: 'GET',
    path: '/admin/reconciliation',
    tag: 'Administração',
    summary: 'Diferenças com o processador de pagamentos e com os custos dos provedores',
    access: 'finance',
    query: { days: wholeNumber(1, DAYS_MAX, DAYS_DEFAULT) },
    answer: report,
    handle: ({ query }, deps: Deps) => readReport(deps.db, query.days ?? DAYS_DEFAULT),
  }),

  restRoute({
    method: 'POST',
    path: '/admin/reconciliation/differences/:id/explain',
    tag: 'Administração',
    summary: 'Explica uma diferença, com os valores que ela tem agora',
    access: 'finance',
    params: { id: Type.String() },
    body: Type.Object(
      {
        explanation: storedText(3, 500),
      },
      { additionalProperties: false },
    ),
    answer: difference,
    refusals: {
      403: ['own_account'],
      404: ['difference_not_found'],
      409: ['difference_gone'],
    },
    async handle({ caller, params, body }, deps: Deps) {
      const { explanation } = body
      const input = { id: params.id, explanation }
      const outcome = await explainDiscrepancy(deps.db, actorOf(caller), input)
      if (outcome.kind === 'own_account') throw ownAccount()
      if (outcome.kind === 'difference_not_found') throw new RestRefusal(404, outcome.kind)
      if (outcome.kind === 'difference_gone') throw new RestRefusal(409, outcome.kind)
      return discrepancyBody(outcome.discrepancy)
    },
  }),
]
