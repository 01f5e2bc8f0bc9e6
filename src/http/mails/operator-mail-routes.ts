import Type from 'typebox'
import { listFailingMails, type FailingMail } from '../../deliveries/email/list-failing-mails.ts'
import type { AnswerOf } from '../rest/answer-of.ts'
import { answer, count, dateTime, nullable, uuid, wholeNumber } from '../rest/values.ts'
import { cursor, nextCursor, pageOf, readCursor } from '../rest/cursor.ts'
import type { HttpParts } from '../rest/parts.ts'
import { restRoute } from '../rest/rest-route.ts'

type Deps = Pick<HttpParts, 'db'>

const LIMIT_DEFAULT = 50
const LIMIT_MAX = 200

const inTrouble = answer({
  id: uuid,
  customer_id: uuid,
  template: Type.String(),
  status: Type.Enum(['failed', 'waiting']),
  address: { ...nullable(Type.String()), description: 'Mascarado.' },
  error: nullable(Type.String()),
  tries: nullable(count),
  next_try_at: nullable(dateTime),
  since: dateTime,
})

export const operatorMailRoutes = [
  restRoute({
    method: 'GET',
    path: '/admin/mails/in-trouble',
    tag: 'Administração',
    summary: 'E-mails que falharam, ou que esperam há mais de dez minutos',
    access: 'support',
    query: { limit: wholeNumber(1, LIMIT_MAX, LIMIT_DEFAULT), cursor },
    answer: answer({ mails: Type.Array(inTrouble), next_cursor: nextCursor }),
    async handle({ query }, deps: Deps) {
      const { limit = LIMIT_DEFAULT } = query
      const after = readCursor(query.cursor)
      const found = await listFailingMails(deps.db, { after, limit: limit + 1 })
      const { page, next_cursor } = pageOf(found, limit, ({ exactSince, id }) => ({
        at: exactSince,
        id,
      }))
      return { mails: page.map(inTroubleBody), next_cursor }
    },
  }),
]

function inTroubleBody(found: FailingMail): AnswerOf<typeof inTrouble> {
  return {
    id: found.id,
    customer_id: found.customerId,
    template: found.template,
    status: found.status,
    address: found.address,
    error: found.error,
    tries: found.tries,
    next_try_at: found.nextTryAt?.toISOString() ?? null,
    since: found.since.toISOString(),
  }
}
