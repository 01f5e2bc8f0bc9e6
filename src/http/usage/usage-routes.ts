import Type from 'typebox'
import { balanceFields, findBalance } from '../../ledger/find-balance.ts'
import { listUsageEvents } from '../../usage/list-usage-events.ts'
import type { UsageEventFilter } from '../../usage/usage-event.ts'
import { usageEvent, usageEventBody } from './usage-event.ts'
import { balanceShape } from '../rest/balance-fields.ts'
import { answer, storedText, uuid, wholeNumber } from '../rest/values.ts'
import { cursor, nextCursor, pageOf, readCursor } from '../rest/cursor.ts'
import type { UsageDeps } from './usage-deps.ts'
import { restRoute } from '../rest/rest-route.ts'
import { boundsOf, periodQuery } from './usage-period.ts'

/** The newest charges that `GET /usage` shows; the paged list and the exports have all of them. */
const EVENTS_MAX = 100
const LIMIT_DEFAULT = 50
const LIMIT_MAX = 200

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
    async handle({ caller: { customerId } }, deps: UsageDeps) {
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
    query: {
      limit: wholeNumber(1, LIMIT_MAX, LIMIT_DEFAULT),
      cursor,
      ...periodQuery,
      model_id: Type.Optional(storedText(0, 200)),
      api_key_id: Type.Optional(uuid),
      session_id: Type.Optional(storedText(0, 80)),
    },
    answer: answer({ usage_events: Type.Array(usageEvent), next_cursor: nextCursor }),
    async handle({ caller: { customerId }, query }, deps: UsageDeps) {
      const { limit = LIMIT_DEFAULT } = query
      const before = readCursor(query.cursor)
      const filter: UsageEventFilter = {
        modelId: query.model_id,
        apiKeyId: query.api_key_id,
        sessionId: query.session_id,
        ...(await boundsOf(deps.db, customerId, query)),
      }
      const events = await listUsageEvents(deps.db, {
        customerId,
        limit: limit + 1,
        filter,
        before,
      })
      const { page, next_cursor } = pageOf(events, limit, ({ createdAt, id }) => ({
        at: createdAt,
        id,
      }))
      return { usage_events: page.map(usageEventBody), next_cursor }
    },
  }),
]
