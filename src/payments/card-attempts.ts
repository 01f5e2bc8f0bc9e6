/**
 * Stops card testing, where an attacker tries a list of stolen cards to learn which ones work: after
 * `CARD_REFUSALS_MAX` refusals in an hour, the processor is not asked again. The row is inserted before the
 * processor is asked, so concurrent attempts are counted too.
 */
import { sql } from 'kysely'
import { lockCustomer } from '../customers/customers.ts'
import type { Database } from '../db/open.ts'
import { createId } from '../lib/ids.ts'

export interface TooManyRefusals {
  readonly kind: 'too_many_refusals'
  readonly retryAfterSeconds: number
}

/** Per customer and hour: refused attempts, and those without an answer yet. */
export const CARD_REFUSALS_MAX = 10
const WINDOW_SECONDS = 3_600

/** Runs `act` unless the limit is reached. A refusal counts for an hour, and so does an attempt that a crash cut off. */
export async function guardCards<Outcome extends { readonly kind: string }>(
  db: Database,
  customerId: string,
  act: () => Promise<Outcome>,
): Promise<Outcome | TooManyRefusals> {
  const begun = await beginAttempt(db, customerId)
  if (typeof begun !== 'string') return begun
  const outcome = await act()
  if (outcome.kind !== 'card_rejected')
    await db.deleteFrom('card_attempts').where('id', '=', begun).execute()
  return outcome
}

/** Deletes refusals that count no more, also of customers who never try a card again. */
export async function pruneCardAttempts(db: Database): Promise<void> {
  await sql`
    delete from card_attempts
    where created_at < now() - make_interval(secs => ${WINDOW_SECONDS})`.execute(db)
}

function beginAttempt(db: Database, customerId: string): Promise<string | TooManyRefusals> {
  return db.transaction().execute(async (trx) => {
    await lockCustomer(trx, customerId)
    await sql`
      delete from card_attempts
      where customer_id = ${customerId} and created_at < now() - make_interval(secs => ${WINDOW_SECONDS})`.execute(
      trx,
    )
    const { rows } = await sql<{ seconds: number }>`
      select ceil(extract(epoch from created_at - now()) + ${WINDOW_SECONDS})::int4 as seconds
      from card_attempts where customer_id = ${customerId}
      order by created_at desc offset ${CARD_REFUSALS_MAX - 1} limit 1`.execute(trx)
    const [last] = rows
    if (last) return { kind: 'too_many_refusals', retryAfterSeconds: Math.max(1, last.seconds) }
    const id = createId()
    await trx.insertInto('card_attempts').values({ id, customer_id: customerId }).execute()
    return id
  })
}
