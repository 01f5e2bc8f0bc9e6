import Type from 'typebox'
import { countNotifications, listNotifications } from '../../customers/notifications.ts'
import { answer, count, dateTime, nullable, uuid, wholeNumber } from '../rest/values.ts'
import { cursor, nextCursor, pageOf, readCursor } from '../rest/cursor.ts'
import type { HttpParts } from '../rest/parts.ts'
import { restRoute } from '../rest/rest-route.ts'

type Deps = Pick<HttpParts, 'db'>

export const notification = answer({
  id: uuid,
  template: Type.String(),
  sent_at: dateTime,
  status: Type.Enum(['sent', 'failed']),
  error: nullable(Type.String()),
})

export const notificationRoutes = [
  restRoute({
    method: 'GET',
    path: '/me/notifications',
    tag: 'Conta',
    summary: 'Os e-mails enviados, os mais novos primeiro',
    access: 'account',
    readsFrom: 'replica',
    query: { limit: wholeNumber(1, 200, 50), cursor },
    answer: answer({
      total: { ...count, description: 'De todas, não só desta página.' },
      notifications: Type.Array(notification),
      next_cursor: nextCursor,
    }),
    async handle({ caller, query: { limit = 50, cursor } }, deps: Deps) {
      const found = await listNotifications(deps.db, caller.customerId, {
        after: readCursor(cursor),
        limit: limit + 1,
      })
      const { page, next_cursor } = pageOf(found, limit, ({ exactSentAt, id }) => ({
        at: exactSentAt,
        id,
      }))
      return {
        total: (await countNotifications(deps.db, caller.customerId)).total,
        notifications: page.map(({ id, template, sentAt, status, error }) => ({
          id,
          template,
          sent_at: sentAt.toISOString(),
          status,
          error,
        })),
        next_cursor,
      }
    },
  }),
]
