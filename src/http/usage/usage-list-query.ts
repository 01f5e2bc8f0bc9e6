/** The query of the paged lists of charges and of calls: a page, a period, and the filters by model, key and session. */
import Type from 'typebox'
import type { Database } from '../../platform/db/open.ts'
import type { UsageList } from '../../money/usage/list-usage-events.ts'
import type { UsageEvent, UsageEventFilter } from '../../money/usage/usage-event.ts'
import { cursor, pageOf, readCursor } from '../rest/cursor.ts'
import { dateTime, nullable, storedText, uuid, wholeNumber, dayInQuery } from '../rest/values.ts'
import {
  findArchivedUntil,
  findUsagePeriod,
  type UsagePeriod,
} from '../../money/usage/find-usage-period.ts'
import { RestRefusal } from '../rest/rest-refusal.ts'

export const periodQuery = {
  from: dayInQuery('Primeiro dia (AAAA-MM-DD), no fuso do cliente.'),
  to: dayInQuery('Último dia (AAAA-MM-DD), incluído; sem ele, até agora.'),
}

/** Returns the period that a request asks for. Throws a 400 if the period ends before it begins. */
export async function askedPeriod(
  db: Database,
  customerId: string,
  asked: { from?: string | undefined; to?: string | undefined },
): Promise<UsagePeriod> {
  const period = await findUsagePeriod(db, customerId, asked)
  if (period.from > period.to)
    throw new RestRefusal(
      400,
      'invalid_request',
      'from: não pode ser depois de to, que é hoje quando falta',
    )
  return period
}

const LIMIT_DEFAULT = 50
const LIMIT_MAX = 200
/** Earlier than any charge. */
const FIRST_DAY = '1000-01-01'

export const usageListQuery = {
  limit: wholeNumber(1, LIMIT_MAX, LIMIT_DEFAULT),
  cursor,
  ...periodQuery,
  model_id: Type.Optional(storedText(0, 200)),
  api_key_id: Type.Optional(uuid),
  session_id: Type.Optional(storedText(0, 80)),
}

export const archivedBefore = {
  ...nullable(dateTime),
  description:
    'As chamadas de antes estão arquivadas: vêm nas exportações, não nesta lista. null: nenhuma.',
}

interface AskedList {
  readonly limit?: number
  readonly cursor?: string
  readonly from?: string
  readonly to?: string
  readonly model_id?: string
  readonly api_key_id?: string
  readonly session_id?: string
}

/** Reads one page with `list`. Throws a 400 for an unknown cursor and for a period that ends before it begins. */
export async function readUsagePage<Event extends UsageEvent>(
  /** Where the customer's time zone is read, and which months are archived. */
  db: Database,
  customerId: string,
  query: AskedList,
  list: (asked: UsageList) => Promise<Event[]>,
): Promise<{
  page: readonly Event[]
  next_cursor: string | null
  archived_before: string | null
}> {
  const { limit = LIMIT_DEFAULT } = query
  const before = readCursor(query.cursor)
  const filter: UsageEventFilter = {
    modelId: query.model_id,
    apiKeyId: query.api_key_id,
    sessionId: query.session_id,
    ...(await boundsOf(db, customerId, query)),
  }
  // One more than the page, to know whether there is a next one.
  const found = await list({ customerId, limit: limit + 1, filter, before })
  return {
    ...pageOf(found, limit, ({ createdAt, id }) => ({ at: createdAt, id })),
    archived_before: await findArchivedUntil(db, customerId),
  }
}

/** Without days there are no bounds. */
async function boundsOf(
  db: Database,
  customerId: string,
  { from, to }: AskedList,
): Promise<Pick<UsageEventFilter, 'fromAt' | 'untilAt'>> {
  if (from === undefined && to === undefined) return {}
  return askedPeriod(db, customerId, { from: from ?? FIRST_DAY, to })
}
