import Type from 'typebox'
import type { FxRate } from '../../money/fx/fx-rates.ts'
import { setFxRate, withdrawFxRate } from '../../money/fx/set-fx-rate.ts'
import { decimalE4, jsonE4, parseE4 } from '../../platform/lib/money.ts'
import { actorOf } from '../rest/authenticate.ts'
import type { HttpParts } from '../rest/parts.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'
import { restRoute } from '../rest/rest-route.ts'
import { answer, date, reason } from '../rest/values.ts'

type Deps = Pick<HttpParts, 'db' | 'config'>

const rate = answer({
  id: Type.Integer(),
  rate: Type.Number({ description: 'BRL por USD.' }),
  rate_date: date,
  source: Type.String(),
})

/** The changed rate, and the one in force: a rate of an older day changes nothing. */
const changed = answer({ fx_rate: rate, in_force: rate })

const ADMIN = { method: 'POST', tag: 'Administração', access: 'admin', answer: changed } as const

export const operatorFxRoutes = [
  restRoute({
    ...ADMIN,
    path: '/admin/fx-rates',
    summary:
      'Define o câmbio à mão, até 20% longe do que está em vigor; a PTAX de um dia mais novo o substitui',
    repeats: 'in_transaction',
    body: Type.Object(
      {
        rate: Type.Number({
          minimum: 0.0001,
          maximum: 99.9999,
          description: 'BRL por USD, com até quatro decimais.',
        }),
        rate_date: Type.Optional(
          Type.String({
            format: 'date',
            pattern: '^[12]',
            description: 'O dia da taxa; sem ele, hoje em Brasília.',
          }),
        ),
        reason,
      },
      { additionalProperties: false },
    ),
    status: 201,
    refusals: { 409: ['fx_rate_unlikely'] },
    async handle({ caller, body }, { db, config: { mode } }: Deps) {
      const rateE4 = parseE4(String(body.rate))
      if (rateE4 === undefined)
        throw new RestRefusal(400, 'invalid_request', 'rate: tem mais de quatro casas decimais')
      const set = await setFxRate(db, actorOf(caller), {
        mode,
        rateE4,
        rateDate: body.rate_date,
        note: body.reason.trim(),
        // Such a rate gives money away, or takes it: only whoever has the database sets it.
        isConfirmed: false,
      })
      if (set.kind === 'date_in_future')
        throw new RestRefusal(400, 'invalid_request', `rate_date: é depois de hoje, ${set.today}`)
      if (set.kind === 'not_confirmed')
        throw new RestRefusal(
          409,
          'fx_rate_unlikely',
          set.inForce
            ? `é longe da taxa em vigor, ${decimalE4(set.inForce.rateE4)}, ou da última oficial`
            : 'não é uma taxa usual',
        )
      return { fx_rate: rateBody(set.stored), in_force: rateBody(set.inForce) }
    },
  }),
  restRoute({
    ...ADMIN,
    path: '/admin/fx-rates/:id/withdraw',
    summary: 'Retira uma taxa que foi definida à mão; a de antes volta a valer',
    repeats: 'in_transaction',
    params: { id: Type.String({ maxLength: 200 }) },
    body: Type.Object({ reason }, { additionalProperties: false }),
    refusals: { 404: ['fx_rate_not_found'], 409: ['only_fx_rate'] },
    async handle({ caller, params, body }, { db, config: { mode } }: Deps) {
      const id = /^\d{1,9}$/.test(params.id) ? Number(params.id) : 0
      const note = body.reason.trim()
      const taken = await withdrawFxRate(db, actorOf(caller), { mode, id, note })
      if (taken.kind === 'not_found') throw new RestRefusal(404, 'fx_rate_not_found')
      if (taken.kind === 'only_rate') throw new RestRefusal(409, 'only_fx_rate')
      return { fx_rate: rateBody(taken.withdrawn), in_force: rateBody(taken.inForce) }
    },
  }),
]

function rateBody({ id, rateE4, rateDate, source }: FxRate) {
  return { id, rate: jsonE4(rateE4), rate_date: rateDate, source }
}
