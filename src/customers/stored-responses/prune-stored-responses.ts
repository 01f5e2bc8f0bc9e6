import { sql } from 'kysely'
import type { Database } from '../../platform/db/open.ts'

/** Rows of one statement: a row may have megabytes. */
const BATCH = 100

/** Deletes responses whose time is over, and those of accounts that no longer store any. */
export async function pruneStoredResponses(
  db: Database,
  isOver: () => boolean = () => false,
): Promise<void> {
  const { rows } = await sql<{ customer_id: string }>`
    select c.id as customer_id from customers c
    where exists (select 1 from stored_responses r where r.customer_id = c.id and ${IS_OVER})`.execute(
    db,
  )
  for (const { customer_id } of rows) {
    let deleted = BATCH
    while (deleted === BATCH && !isOver()) deleted = await deleteBatch(db, customer_id)
  }
}

const IS_OVER = sql`(
  c.stored_responses_days is null or r.created_at <= now() - make_interval(days => c.stored_responses_days))`

async function deleteBatch(db: Database, customerId: string): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from stored_responses where id in (
      select r.id from stored_responses r join customers c on c.id = r.customer_id
      where r.customer_id = ${customerId} and ${IS_OVER} order by r.created_at, r.id limit ${BATCH})`.execute(
    db,
  )
  return Number(numAffectedRows)
}
