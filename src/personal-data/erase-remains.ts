/**
 * What is erased of a deleted account in batches, each a transaction of its own that takes a moment: prompts,
 * images, what was told by mail, and the ids of sessions, which are the customer's own words. Whoever begins it
 * need not end it: a job takes up what is left. Nothing comes after it, for nobody writes for a deleted account.
 */
import { sql, type RawBuilder } from 'kysely'
import type { Database } from '../db/open.ts'

/** Each batch is a few ten milliseconds at the most, of rows as large as they may be. */
const VERSIONS_BATCH = 500
const BATCHES: readonly (readonly [table: string, batch: number])[] = [
  ['prompts', 1_000],
  ['generated_images', 10],
  ['notifications', 2_000],
  ['events', 2_000],
  ['mails', 2_000],
  ['sandbox_mails', 2_000],
  // Of up to 20 kB each.
  ['webhook_attempts', 500],
  ['webhook_endpoints', 2_000],
  ['alerts', 2_000],
]
const EVENTS_BATCH = 1_000

/** False where the time was over before the end. Only for a customer who is deleted. */
export async function eraseRemains(
  db: Database,
  customerId: string,
  untilMs: number = Infinity,
): Promise<boolean> {
  const steps = [
    () => runBatch(db, eraseVersions(customerId)),
    // In this order: attempts name their webhook, versions their prompt.
    ...BATCHES.map(
      ([table, batch]) =>
        () =>
          runBatch(db, eraseRows(table, customerId, batch)),
    ),
    () => eraseSessionIds(db, customerId),
  ]
  for (const step of steps) {
    while (await step()) if (Date.now() > untilMs) return false
  }
  await sql`update customers set erased_at = now()
    where id = ${customerId} and deleted_at is not null and erased_at is null`.execute(db)
  return true
}

/** Ends what requests began and did not end; returns how many accounts that were. */
export async function eraseDeletedAccounts(db: Database): Promise<number> {
  const { rows } = await sql<{ id: string }>`
    select id from customers where deleted_at is not null and erased_at is null
    order by deleted_at`.execute(db)
  for (const { id } of rows) await eraseRemains(db, id)
  return rows.length
}

async function runBatch(db: Database, statement: RawBuilder<unknown>): Promise<boolean> {
  const { numAffectedRows } = await statement.execute(db)
  return numAffectedRows !== undefined && numAffectedRows > 0n
}

function eraseVersions(customerId: string): RawBuilder<unknown> {
  return sql`
    delete from prompt_versions where (prompt_id, version) in (
      select v.prompt_id, v.version from prompts p join prompt_versions v on v.prompt_id = p.id
      where p.customer_id = ${customerId} limit ${VERSIONS_BATCH})`
}

function eraseRows(table: string, customerId: string, batch: number): RawBuilder<unknown> {
  return sql`
    delete from ${sql.table(table)} where id in (
      select id from ${sql.table(table)} where customer_id = ${customerId} limit ${batch})`
}

/**
 * The next events lose their session, the oldest of each first, and what they add up to is taken out of the
 * session in the same transaction: at every moment it is the sum of what is left, as the ledger's audit asks.
 */
async function eraseSessionIds(db: Database, customerId: string): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    // Of two that erase the same account one waits, and then finds other events.
    await sql`select 1 from customers where id = ${customerId} for no key update`.execute(trx)
    const { rows } = await sql<{ session_id: string }>`
      with picked as (
        select id, created_at, session_id from usage_events
        where customer_id = ${customerId} and session_id is not null
        order by session_id, created_at, id limit ${EVENTS_BATCH}
      ), blanked as (
        update usage_events e set session_id = null
        from picked p where e.id = p.id and e.created_at = p.created_at
        returning p.session_id, e.outcome, e.reason, e.prompt_tokens, e.completion_tokens, e.cost_billed_nano_brl
      ), sums as (
        select session_id, sum(event_charges(outcome, reason)) as requests, sum(prompt_tokens) as prompt_tokens,
          sum(completion_tokens) as completion_tokens, sum(cost_billed_nano_brl) as billed
        from blanked where outcome = 'charged' group by 1
      ), lessened as (
        update usage_sessions s set
          requests = s.requests - b.requests,
          prompt_tokens = s.prompt_tokens - b.prompt_tokens,
          completion_tokens = s.completion_tokens - b.completion_tokens,
          cost_billed_nano_brl = s.cost_billed_nano_brl - b.billed
        from sums b where s.customer_id = ${customerId} and s.session_id = b.session_id
      )
      select distinct session_id from blanked`.execute(trx)
    if (rows.length > 0)
      await settleSessions(
        trx,
        customerId,
        rows.map((row) => row.session_id),
      )
    return rows.length > 0
  })
}

/**
 * Sessions without an event are gone; of the one that was cut, the first event is another now. With the
 * collation of the events their index finds it.
 */
async function settleSessions(
  trx: Database,
  customerId: string,
  sessionIds: readonly string[],
): Promise<void> {
  await sql`
    delete from usage_sessions
    where customer_id = ${customerId} and session_id = any(${sessionIds}) and requests = 0`.execute(
    trx,
  )
  await sql`
    update usage_sessions s set first_request_at = (
      select created_at from usage_events e
      where e.customer_id = s.customer_id and e.session_id = s.session_id collate "default" and e.outcome = 'charged'
      order by created_at limit 1)
    where customer_id = ${customerId} and session_id = any(${sessionIds})`.execute(trx)
}
