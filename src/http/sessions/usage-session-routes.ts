import Type from 'typebox'
import { toMilliseconds } from '../../platform/db/exact-time.ts'
import { jsonBrl } from '../../platform/lib/money.ts'
import {
  findSession,
  listSessionEvents,
  listSessions,
  type UsageSession,
} from '../../money/usage/sessions.ts'
import { findArchivedUntil } from '../../money/usage/find-usage-period.ts'
import { usageEvent, usageEventBody } from '../usage/usage-event.ts'
import { archivedBefore } from '../usage/usage-list-query.ts'
import { answer, brl, count, dateTime, wholeNumber } from '../rest/values.ts'
import { cursor, nextCursor, pageOf, readCursor } from '../rest/cursor.ts'
import type { HttpParts } from '../rest/parts.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'
import { restRoute } from '../rest/rest-route.ts'

type Deps = Pick<HttpParts, 'db'>

const DAYS_DEFAULT = 30
const DAYS_MAX = 90
const LIMIT_DEFAULT = 100
const LIMIT_MAX = 500
const EVENTS_MAX = 1_000
const ID_CHARS_MAX = 80

/** The values that `x-svc-session-id` may have: no usage session has any other name. */
const SESSION_ID = /^[\x21-\x7e]{1,80}$/

const sessionList = [
  restRoute({
    method: 'GET',
    path: '/me/sessions',
    tag: 'Sessões',
    summary: 'As sessões, as de uso mais recente primeiro',
    access: 'account',
    readsFrom: 'replica',
    query: {
      days: wholeNumber(1, DAYS_MAX, DAYS_DEFAULT),
      limit: wholeNumber(1, LIMIT_MAX, LIMIT_DEFAULT),
      cursor,
    },
    answer: answer({
      days: Type.Integer(),
      count,
      sessions: Type.Array(
        answer({
          session_id: Type.String(),
          request_count: count,
          total_billed_brl: brl,
          total_prompt_tokens: count,
          total_completion_tokens: count,
          total_tokens: count,
          models: Type.Array(Type.String()),
          first_request_at: dateTime,
          last_request_at: dateTime,
          duration_ms: count,
        }),
      ),
      next_cursor: nextCursor,
    }),
    async handle({ caller: { customerId }, query }, deps: Deps) {
      const { days = DAYS_DEFAULT, limit = LIMIT_DEFAULT } = query
      const before = readCursor(query.cursor, (id) => SESSION_ID.test(id))
      const sessions = await listSessions(deps.db, { customerId, days, limit: limit + 1, before })
      const { page, next_cursor } = pageOf(sessions, limit, ({ lastRequestAt, sessionId }) => ({
        at: lastRequestAt,
        id: sessionId,
      }))
      return { days, count: page.length, sessions: page.map(sessionBody), next_cursor }
    },
  }),
]

const session = [
  restRoute({
    method: 'GET',
    path: '/me/sessions/:id',
    tag: 'Sessões',
    summary: 'Uma sessão e suas cobranças, em ordem cronológica',
    access: 'account',
    readsFrom: 'replica',
    params: { id: Type.String({ maxLength: ID_CHARS_MAX }) },
    query: { limit: wholeNumber(1, EVENTS_MAX, EVENTS_MAX), cursor },
    answer: answer({
      session_id: Type.String(),
      request_count: count,
      total_billed_brl: brl,
      events: Type.Array(usageEvent),
      next_cursor: nextCursor,
      archived_before: archivedBefore,
    }),
    refusals: { 404: ['session_not_found'] },
    async handle({ caller: { customerId }, params, query }, deps: Deps) {
      const { limit = EVENTS_MAX } = query
      const after = readCursor(query.cursor)
      const session = SESSION_ID.test(params.id)
        ? await findSession(deps.db, customerId, params.id)
        : undefined
      if (!session) throw new RestRefusal(404, 'session_not_found')
      const asked = { limit: limit + 1, after }
      const events = await listSessionEvents(deps.db, customerId, session, asked)
      const { page, next_cursor } = pageOf(events, limit, ({ createdAt, id }) => ({
        at: createdAt,
        id,
      }))
      return {
        session_id: session.sessionId,
        request_count: Number(session.requests),
        total_billed_brl: jsonBrl(session.costBilledNanoBrl),
        events: page.map(usageEventBody),
        next_cursor,
        archived_before: await archivedOf(deps, customerId, session),
      }
    },
  }),
]

/** Null for a session that began later: all its charges are in the list. */
async function archivedOf(
  { db }: Deps,
  customerId: string,
  { firstRequestAt }: UsageSession,
): Promise<string | null> {
  const until = await findArchivedUntil(db, customerId)
  return until !== null && toMilliseconds(firstRequestAt) < until ? until : null
}

export const usageSessionRoutes = [...sessionList, ...session]

function sessionBody(session: UsageSession) {
  const { promptTokens, completionTokens, firstRequestAt, lastRequestAt } = session
  const [first, last] = [toMilliseconds(firstRequestAt), toMilliseconds(lastRequestAt)]
  return {
    session_id: session.sessionId,
    request_count: Number(session.requests),
    total_billed_brl: jsonBrl(session.costBilledNanoBrl),
    total_prompt_tokens: Number(promptTokens),
    total_completion_tokens: Number(completionTokens),
    total_tokens: Number(promptTokens + completionTokens),
    models: session.modelIds,
    first_request_at: first,
    last_request_at: last,
    duration_ms: Date.parse(last) - Date.parse(first),
  }
}
