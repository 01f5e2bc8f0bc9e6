/** The measured callers: the heavy customer and the median one, with the ids of their resources. */
import type pg from 'pg'
import type { Database } from '../../src/platform/db/open.ts'
import { openSession } from '../../test/harness/open-session.ts'
import { findCaller } from './add-customers.ts'
import type { CallerIds } from './plan-reads.ts'
import type { CallerName, HistoryFacts } from './reads-results.ts'

export interface BenchCaller {
  readonly name: CallerName
  readonly customerId: string
  readonly secret: string
  /** A login session with a second factor, for the reads of operators. */
  readonly session: string
  readonly email: string
  readonly ids: CallerIds
}

/** Within the widest window of the sessions' list. */
const SESSION_DAYS = 90

export async function findCallers(
  client: pg.Client,
  at: { db: Database; dataDir: string },
): Promise<BenchCaller[]> {
  const { rows } = await client.query(`
    select c.no from bench.customers c join accounts a on a.customer_id = c.id where c.no > 1
    order by a.charged_nano_brl offset (select (count(*) - 1) / 2 from bench.customers) limit 1`)
  return [
    await describeCaller(client, at, 'heavy', 1),
    await describeCaller(client, at, 'ordinary', rows[0].no),
  ]
}

async function describeCaller(
  client: pg.Client,
  at: { db: Database; dataDir: string },
  name: CallerName,
  customerNo: number,
): Promise<BenchCaller> {
  const { customerId, keyId, secret, email } = await findCaller(client, customerNo)
  const { rows } = await client.query(
    `select
      (select id from prompts where customer_id = $1 order by version desc, id limit 1) as "promptId",
      (select session_id from usage_sessions where customer_id = $1 and last_request_at > now() - make_interval(days => $2)
        order by requests desc limit 1) as "sessionId",
      (select id from teams where customer_id = $1 limit 1) as "teamId",
      (select id from top_ups where customer_id = $1 order by id limit 1) as "topUpId",
      (select id from refunds where customer_id = $1 order by id limit 1) as "refundId",
      (select id from alerts where customer_id = $1 order by id limit 1) as "alertId",
      (select id from webhook_endpoints where customer_id = $1 order by id limit 1) as "webhookId",
      (select id from webhook_attempts where customer_id = $1 order by id limit 1) as "attemptId",
      to_char((select started_at from bench.history), 'YYYY-MM-DD') as from, to_char(now(), 'YYYY-MM-DD') as to`,
    [customerId, SESSION_DAYS],
  )
  const ids = { ...rows[0], keyId, customerId } as CallerIds
  for (const [name, id] of Object.entries(ids))
    if (!id) throw new Error(`customer ${customerNo} has no ${name}`)
  const session = await openSession(at, customerId, { hasFactor: true })
  return { name, customerId, secret, session, email, ids }
}

export async function describeHistory(
  client: pg.Client,
  callers: readonly BenchCaller[],
  isSound: boolean | null,
): Promise<HistoryFacts> {
  const eventsOf = async (name: CallerName): Promise<number> => {
    const { rows } = await client.query(
      'select sum(charged_requests + released_requests)::int4 as events from usage_hours where customer_id = $1',
      [callers.find((caller) => caller.name === name)?.customerId],
    )
    return rows[0].events
  }
  const { rows } = await client.query(`select pg_database_size(current_database()) as bytes,
    (select sum(charged_requests + released_requests) from usage_hours) as events`)
  return {
    events: Number(rows[0].events),
    heavyEvents: await eventsOf('heavy'),
    ordinaryEvents: await eventsOf('ordinary'),
    databaseBytes: Number(rows[0].bytes),
    isSound,
  }
}
