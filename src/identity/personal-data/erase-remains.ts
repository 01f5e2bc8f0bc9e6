/**
 * Erases what operators wrote about a deleted account, and its large tables in batches, each a short transaction: prompts, images, stored
 * responses, files, batches, mails,
 * notifications, counts of the shield and of refusals, and the ids of usage sessions, which the customer chose. If a run stops early, a background job
 * continues. No new rows appear meanwhile, because the database refuses rows for a deleted customer.
 */
import { sql, type RawBuilder } from 'kysely'
import type { Database } from '../../platform/db/open.ts'
import { lockArchived } from '../../money/ledger/audit/prove-archived.ts'

/** In place of a text that its row must have. */
const ERASED = 'apagado com a conta'

/**
 * Erases what operators wrote about the customer: such a text may name the person. Amounts, times, ids and references
 * stay, as tax law requires. The customer must be deleted.
 */
async function eraseOperatorTexts(db: Database, customerId: string): Promise<void> {
  await db
    .updateTable('adjustments')
    .set({ reason: ERASED })
    .where('customer_id', '=', customerId)
    .execute()
  await sql`update refunds set decision_note = null where customer_id = ${customerId}`.execute(db)
  await db
    .updateTable('ledger_entries')
    .set({ note: null })
    .where('customer_id', '=', customerId)
    .where('note', 'is not', null)
    .execute()
  // The audit log has each explanation, between these times.
  await sql`
    with explained as (
      update reconciliation_discrepancies set explanation = ${ERASED}
      where explanation is not null
        and top_up_id in (select id from top_ups where customer_id = ${customerId})
      returning id, first_seen_at, explained_at
    )
    update audit_log a set details = a.details - 'explanation'
    from explained e
    where a.created_at >= e.first_seen_at and a.created_at <= e.explained_at
      and a.action = 'reconciliation_difference.explained' and a.subject_id = e.id::text`.execute(
    db,
  )
}

/** Each batch takes a few tens of milliseconds at most, even if all its rows have the maximum size. */
const VERSIONS_BATCH = 500
const BATCHES: readonly (readonly [table: string, batch: number])[] = [
  ['customer_notes', 1_000],
  ['prompts', 1_000],
  ['generated_images', 10],
  // Up to 16 MB each.
  ['stored_responses', 20],
  // Up to 1 MB each.
  ['file_parts', 50],
  ['files', 1_000],
  // Answers of up to 40 MB.
  ['batch_lines', 50],
  ['batches', 1_000],
  ['videos', 2_000],
  ['notifications', 2_000],
  ['events', 2_000],
  ['mails', 2_000],
  ['sandbox_mails', 2_000],
  // Up to 20 kB each.
  ['webhook_attempts', 500],
  ['webhook_endpoints', 2_000],
  ['usage_destinations', 2_000],
  ['alerts', 2_000],
  // A bill of a session has up to 200 proofs, of some 2 kB each.
  ['public_bills', 100],
]
const EVENTS_BATCH = 1_000
const TASKS_BATCH = 2_000
const REFUSALS_BATCH = 2_000
/** A day has one row for each key, action and kind. */
const SHIELD_DAYS_BATCH = 10

/** Returns false if `untilMs` passed before everything was erased. The customer must be deleted. */
export async function eraseRemains(
  db: Database,
  customerId: string,
  untilMs: number = Infinity,
): Promise<boolean> {
  await eraseOperatorTexts(db, customerId)
  const steps = [
    () => runBatch(db, eraseVersions(customerId)),
    // The order follows the foreign keys: attempts refer to their webhook, versions to their prompt.
    ...BATCHES.map(
      ([table, batch]) =>
        () =>
          runBatch(db, eraseRows(table, customerId, batch)),
    ),
    () => runBatch(db, eraseCachedAnswers(customerId)),
    () => runBatch(db, sql`delete from stored_response_sums where customer_id = ${customerId}`),
    // Before the ids of the events, whose sums they are.
    () => runBatch(db, eraseTasks(customerId)),
    () => runBatch(db, eraseShieldCounts(customerId)),
    () => runBatch(db, eraseRefusals(customerId)),
    // Archived files have ids of sessions sealed with it.
    () => runBatch(db, sql`delete from archived_session_keys where customer_id = ${customerId}`),
    () => runBatch(db, eraseArchivedTasks(customerId)),
    () => eraseArchivedSessions(db, customerId),
    () => eraseSessionIds(db, customerId),
  ]
  for (const step of steps) {
    while (await step()) if (Date.now() > untilMs) return false
  }
  await sql`update customers set erased_at = now()
    where id = ${customerId} and deleted_at is not null and erased_at is null`.execute(db)
  return true
}

/** Continues erasures that a request did not finish; returns the number of accounts. */
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

function eraseShieldCounts(customerId: string): RawBuilder<unknown> {
  return sql`
    delete from shield_counts where customer_id = ${customerId} and day in (
      select distinct day from shield_counts where customer_id = ${customerId} limit ${SHIELD_DAYS_BATCH})`
}

function eraseRefusals(customerId: string): RawBuilder<unknown> {
  return sql`
    delete from usage_refusals where customer_id = ${customerId} and (hour_at, id) in (
      select hour_at, id from usage_refusals where customer_id = ${customerId} limit ${REFUSALS_BATCH})`
}

function eraseRows(table: string, customerId: string, batch: number): RawBuilder<unknown> {
  return sql`
    delete from ${sql.table(table)} where id in (
      select id from ${sql.table(table)} where customer_id = ${customerId} limit ${batch})`
}

/** Up to 256 kB each. */
function eraseCachedAnswers(customerId: string): RawBuilder<unknown> {
  return sql`
    delete from cached_answers where (customer_id, digest) in (
      select customer_id, digest from cached_answers where customer_id = ${customerId} limit 200)`
}

function eraseTasks(customerId: string): RawBuilder<unknown> {
  return sql`
    delete from task_spends where (api_key_id, session_id) in (
      select api_key_id, session_id from task_spends where customer_id = ${customerId} limit ${TASKS_BATCH})`
}

function eraseArchivedTasks(customerId: string): RawBuilder<unknown> {
  return sql`
    delete from archived_spends where (subject_id, kind, session_id, month) in (
      select a.subject_id, a.kind, a.session_id, a.month from api_keys k join archived_spends a on a.subject_id = k.id
      where k.customer_id = ${customerId} and a.kind = 'task' limit ${TASKS_BATCH})`
}

/** Subtracts what archived months had of the account's sessions, as `eraseSessionIds` subtracts events. */
async function eraseArchivedSessions(db: Database, customerId: string): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    await lockArchived(trx, 'to read')
    await sql`select 1 from customers where id = ${customerId} for no key update`.execute(trx)
    const { rows } = await sql<{ session_id: string }>`
      with picked as (
        delete from archived_sessions where customer_id = ${customerId} and session_id in (
          select session_id from archived_sessions where customer_id = ${customerId}
          order by session_id limit ${EVENTS_BATCH})
        returning *
      ), sums as (
        select session_id, sum(requests) as requests, sum(prompt_tokens) as prompt_tokens,
          sum(completion_tokens) as completion_tokens, sum(cost_billed_nano_brl) as billed
        from picked where month < archived_until() group by 1
      ), lessened as (${lessen(customerId)})
      select distinct session_id from picked`.execute(trx)
    return settleSessions(trx, customerId, rows)
  })
}

/** Subtracts `sums` from the sessions. */
function lessen(customerId: string): RawBuilder<unknown> {
  return sql`
    update usage_sessions s set
      requests = s.requests - b.requests,
      prompt_tokens = s.prompt_tokens - b.prompt_tokens,
      completion_tokens = s.completion_tokens - b.completion_tokens,
      cost_billed_nano_brl = s.cost_billed_nano_brl - b.billed
    from sums b where s.customer_id = ${customerId} and s.session_id = b.session_id`
}

/**
 * Removes the session id from the next events, the oldest of each session first, and subtracts their sums from the
 * session in the same transaction: the session always equals the sum of its events, which the ledger's audit checks.
 */
async function eraseSessionIds(db: Database, customerId: string): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    await lockArchived(trx, 'to read')
    // Concurrent erasures of one account wait for each other, so each finds other events.
    await sql`select 1 from customers where id = ${customerId} for no key update`.execute(trx)
    const { rows } = await sql<{ session_id: string }>`
      with picked as (
        select id, created_at, session_id from usage_events
        where customer_id = ${customerId} and session_id is not null
        order by session_id, created_at, id limit ${EVENTS_BATCH}
      ), blanked as (
        update usage_events e set session_id = null
        from picked p where e.id = p.id and e.created_at = p.created_at
        returning p.session_id, e.settled_at, e.outcome, e.reason, e.prompt_tokens, e.completion_tokens, e.cost_billed_nano_brl
      ), sums as (
        select session_id, sum(event_charges(outcome, reason)) as requests, sum(prompt_tokens) as prompt_tokens,
          sum(completion_tokens) as completion_tokens, sum(cost_billed_nano_brl) as billed
        from blanked where outcome = 'charged' and settled_at >= archived_until() group by 1
      ), lessened as (${lessen(customerId)})
      select distinct session_id from blanked`.execute(trx)
    return settleSessions(trx, customerId, rows)
  })
}

/**
 * Deletes sessions without events, and sets the new first event of the session that was cut. The explicit collation
 * lets the query use the index of the events. Returns whether there was any session.
 */
async function settleSessions(
  trx: Database,
  customerId: string,
  sessions: readonly { readonly session_id: string }[],
): Promise<boolean> {
  if (sessions.length === 0) return false
  const sessionIds = sessions.map(({ session_id: id }) => id)
  await sql`
    delete from usage_sessions
    where customer_id = ${customerId} and session_id = any(${sessionIds}) and requests = 0`.execute(
    trx,
  )
  await sql`
    update usage_sessions s set first_request_at = (
      select created_at from usage_events e
      where e.customer_id = s.customer_id and e.session_id = s.session_id collate "default" and e.outcome = 'charged'
        and e.settled_at >= archived_until()
      order by created_at limit 1)
    where customer_id = ${customerId} and session_id = any(${sessionIds})`.execute(trx)
  return true
}
