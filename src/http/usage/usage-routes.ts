import Type from 'typebox'
import { balanceFields, findBalance } from '../../money/ledger/find-balance.ts'
import { listUsageEvents } from '../../money/usage/list-usage-events.ts'
import { usageEvent, usageEventBody } from './usage-event.ts'
import { balanceShape, answer } from '../rest/values.ts'
import { nextCursor } from '../rest/cursor.ts'
import type { HttpParts } from '../rest/parts.ts'
import { restRoute } from '../rest/rest-route.ts'
import { archivedBefore, readUsagePage, usageListQuery } from './usage-list-query.ts'

type Deps = Pick<HttpParts, 'db' | 'primary'>

/** The newest charges that `GET /usage` shows; the paged list and the exports have all of them. */
const EVENTS_MAX = 100

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
    async handle({ caller: { customerId } }, deps: Deps) {
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
    readsFrom: 'replica',
    query: usageListQuery,
    answer: answer({
      usage_events: Type.Array(usageEvent),
      next_cursor: nextCursor,
      archived_before: archivedBefore,
    }),
    async handle({ caller: { customerId }, query }, deps: Deps) {
      const { page, ...rest } = await readUsagePage(deps.primary, customerId, query, (list) =>
        listUsageEvents(deps.db, list),
      )
      return { usage_events: page.map(usageEventBody), ...rest }
    },
  }),
]
