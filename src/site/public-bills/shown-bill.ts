/** A public bill as JSON: the page has it too, and anybody can check it with `docs/public-bills.md`. */
import Type from 'typebox'
import type { ShownBill } from '../../money/public-bills/read-public-bill.ts'
import type { AnswerOf } from '../../http/rest/answer-of.ts'
import { answer, date, dateTime, nullable } from '../../http/rest/values.ts'

const hex = Type.String({ description: 'SHA-256, em hexadecimal.' })

export const shownBill = answer({
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
