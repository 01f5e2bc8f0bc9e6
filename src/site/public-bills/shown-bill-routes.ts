/** A bill for those who have its address, and the published chain that it is checked against. */
import Type from 'typebox'
import { listDayHeads } from '../../money/public-bills/read-charge-chain.ts'
import { readPublicBill } from '../../money/public-bills/read-public-bill.ts'
import { RestRefusal } from '../../http/rest/rest-refusal.ts'
import { restRoute } from '../../http/rest/rest-route.ts'
import { answer, date, dayInQuery, wholeNumber } from '../../http/rest/values.ts'
import type { HttpParts } from '../../http/rest/parts.ts'
import { shownBill, shownBillBody } from './shown-bill.ts'

type Deps = Pick<HttpParts, 'db'>

const DAYS_DEFAULT = 60
const DAYS_MAX = 366

export const shownBillRoutes = [
  restRoute({
    method: 'GET',
    path: '/public-bills/:token',
    tag: 'Uso',
    summary: 'Uma conta pública, com a prova de que está no livro',
    access: 'public',
    params: { token: Type.String({ maxLength: 200 }) },
    answer: shownBill,
    refusals: { 404: ['public_bill_not_found'] },
    async handle({ params, reply }, deps: Deps) {
      const bill = await readPublicBill(deps.db, params.token)
      if (!bill) throw new RestRefusal(404, 'public_bill_not_found')
      reply.header('x-robots-tag', 'noindex')
      return shownBillBody(bill)
    },
  }),

  restRoute({
    method: 'GET',
    path: '/charge-chain',
    tag: 'Uso',
    summary: 'Os selos do livro de cobranças, um por dia (UTC), do mais novo ao mais antigo',
    access: 'public',
    query: {
      limit: wholeNumber(1, DAYS_MAX, DAYS_DEFAULT),
      before: dayInQuery('Só os dias antes deste.'),
    },
    answer: answer({
      days: Type.Array(answer({ day: date, seal: Type.Integer(), head: Type.String() })),
    }),
    async handle({ query }, deps: Deps) {
      const { limit = DAYS_DEFAULT, before } = query
      const heads = await listDayHeads(deps.db, { limit, beforeDay: before })
      return {
        days: heads.map(({ day, number, head }) => ({ day, seal: Number(number), head })),
      }
    },
  }),
]
