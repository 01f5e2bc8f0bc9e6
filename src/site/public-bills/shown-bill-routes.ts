/** A bill for those who have its address, and the published chain that it is checked against. */
import Type from 'typebox'
import { listDayHeads } from '../../money/public-bills/read-charge-chain.ts'
import { readPublicBill, type ShownBill } from '../../money/public-bills/read-public-bill.ts'
import { RestRefusal } from '../../http/rest/rest-refusal.ts'
import { restRoute } from '../../http/rest/rest-route.ts'
import {
  answer,
  date,
  dayInQuery,
  wholeNumber,
  dateTime,
  nullable,
} from '../../http/rest/values.ts'
import type { HttpParts } from '../../http/rest/parts.ts'
import type { AnswerOf } from '../../http/rest/answer-of.ts'

/** A public bill as JSON: the page has it too, and anybody can check it with `docs/public-bills.md`. */
const hex = Type.String({ description: 'SHA-256, em hexadecimal.' })

const shownBill = answer({
  kind: Type.Enum(['charge', 'session']),
  created_at: dateTime,
  has_more: Type.Boolean({ description: 'A sessão tem mais cobranças do que a conta mostra.' }),
  charges: Type.Array(
    answer({
      text: Type.String({ description: 'O texto que o livro cobre: a cobrança, em JSON.' }),
      fx_rate_date: date,
      fx_rate_source: Type.String(),
      proof: nullable(
        answer({
          seal: Type.Integer(),
          path: Type.Array(answer({ side: Type.Enum(['left', 'right']), hash: hex })),
          head: hex,
        }),
      ),
    }),
  ),
  days: Type.Array(
    answer({
      day: date,
      before: Type.String({
        description: 'O selo do livro antes deste dia; vazio no primeiro dia.',
      }),
      seals: Type.Array(
        answer({ number: Type.Integer(), from: Type.String(), to: Type.String(), root: hex }),
      ),
      head: hex,
    }),
  ),
})

export type ShownBillBody = AnswerOf<typeof shownBill>

export function shownBillBody(bill: ShownBill): ShownBillBody {
  return {
    kind: bill.kind,
    created_at: bill.createdAt.toISOString(),
    has_more: bill.hasMore,
    charges: bill.charges.map(({ text, fxRateDate, fxSource, proof }) => ({
      text,
      fx_rate_date: fxRateDate,
      fx_rate_source: fxSource,
      proof: proof ? { ...proof, path: [...proof.path] } : null,
    })),
    days: bill.chains.map(({ day, before, seals, head }) => ({
      day,
      before,
      seals: seals.map(({ number, from, to, root }) => ({
        number: Number(number),
        from,
        to,
        root,
      })),
      head,
    })),
  }
}

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
