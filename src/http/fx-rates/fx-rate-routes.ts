import Type from 'typebox'
import { listAppliedRates, type AppliedRate } from '../../money/fx/applied-rates.ts'
import { jsonE4 } from '../../platform/lib/money.ts'
import { answer, date, dateTime, dayInQuery, nullable, wholeNumber } from '../rest/values.ts'
import type { HttpParts } from '../rest/parts.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'
import { restRoute } from '../rest/rest-route.ts'

type Deps = Pick<HttpParts, 'config' | 'db'>

const LIMIT_DEFAULT = 60
const LIMIT_MAX = 400
const MAX_AGE_SECONDS = 60

/** The rates that charges used, and when: public, so that anyone can verify a charge. */
export const fxRateRoutes = [
  restRoute({
    method: 'GET',
    path: '/fx-rates',
    tag: 'Modelos',
    summary: 'As taxas de câmbio aplicadas, as mais novas primeiro',
    access: 'public',
    isTagged: true,
    query: {
      from: dayInQuery('Primeira data da taxa (AAAA-MM-DD).'),
      to: dayInQuery('Última data da taxa, incluída.'),
      limit: wholeNumber(1, LIMIT_MAX, LIMIT_DEFAULT),
    },
    answer: answer({
      mode: Type.Union([Type.Literal('live'), Type.Literal('sandbox')]),
      fx_rates: Type.Array(
        answer({
          id: Type.Integer(),
          rate: Type.Number({ description: 'BRL por USD, quatro decimais' }),
          rate_date: date,
          bulletin_at: nullable(dateTime),
          source: Type.String(),
          is_sandbox: Type.Boolean(),
          applied_from: nullable(dateTime),
          applied_until: nullable(dateTime),
        }),
      ),
    }),
    async handle({ query, reply }, deps: Deps) {
      const { from, to, limit = LIMIT_DEFAULT } = query
      if (from !== undefined && to !== undefined && from > to)
        throw new RestRefusal(400, 'invalid_request', 'from: não pode ser depois de to')
      const rates = await listAppliedRates(deps.db, deps.config.mode, { from, to, limit })
      reply.header('cache-control', `public, max-age=${MAX_AGE_SECONDS}`)
      return { mode: deps.config.mode, fx_rates: rates.map(rateBody) }
    },
  }),
]

function rateBody(rate: AppliedRate) {
  return {
    id: rate.id,
    rate: jsonE4(rate.rateE4),
    rate_date: rate.rateDate,
    bulletin_at: rate.bulletinAt,
    source: rate.source,
    is_sandbox: rate.isSandbox,
    applied_from: rate.appliedFrom,
    applied_until: rate.appliedUntil,
  }
}
