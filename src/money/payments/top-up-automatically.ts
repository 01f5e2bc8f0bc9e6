/**
 * Charges the saved cards of customers whose balance is low, by their settings in `automatic-top-ups.ts`. These limits
 * hold per customer even after failures: one top-up in flight (a unique index), a minute between two and longer after
 * a refusal, five in a day, the daily cap of saved cards (`sql/limit-card-charges.sql`), and the customer's own monthly
 * limit.
 *
 * The customer is claimed before the card is charged, and the claim is renewed with the row of the top-up: one node does
 * it, and if that node dies, it leaves either a top-up for the sweeper or no top-up at all.
 */
import { sql, type RawBuilder } from 'kysely'
import { SYSTEM } from '../../platform/audit-log/audited.ts'
import { claimDue, type ClaimableRows } from '../../platform/db/due-rows.ts'
import { exactTime } from '../../platform/db/exact-time.ts'
import type { Database } from '../../platform/db/open.ts'
import { workOff } from '../../platform/db/work-off.ts'
import type { NanoBrl } from '../../platform/lib/money.ts'
import type { Log } from '../../platform/lib/log.ts'
import { recordAutomaticFailure } from './automatic-top-ups.ts'
import { createTopUp } from './create-top-up.ts'
import { findPayer } from './payers.ts'
import { findChosenCard, type CardKeys } from './payment-methods.ts'
import type { Processor } from './processor.ts'

export interface AutomaticDeps {
  readonly processor: Processor
  readonly keys: CardKeys
  readonly log: Log
}

/** Customers that are charged concurrently: an issuer may take a minute to answer. */
const BATCH_MAX = 10
const WAIT_SECONDS_MIN = 60
/** The wait is multiplied by this after each refusal: a minute, ten, a hundred. */
const WAIT_GROWTH = 10
const A_DAY_MAX = 5

/** Returns the number of claimed customers. Nodes may run it concurrently. */
export async function topUpAutomatically(db: Database, deps: AutomaticDeps): Promise<number> {
  return workOff({
    claim: (limit) => claimDue<Due>(db, DUE, limit),
    work: (due) => topUpOne(db, deps, due),
    onFailure: ({ customer_id: customerId }, error) =>
      deps.log.error('automatic_top_up_failed', { customerId, error }),
    claimMax: BATCH_MAX,
    atOnce: BATCH_MAX,
    runMax: BATCH_MAX,
  })
}

/**
 * The balance of `b` is low, and the setting `q` of the customer `c` allows a top-up, besides that with the id `ownId`.
 * Refused top-ups count towards those of a day, whatever card they tried, and not towards the month's money.
 */
function isShort(ownId: string | null = null): RawBuilder<boolean> {
  const counted = sql`t.customer_id = q.customer_id and t.is_automatic and t.id is distinct from ${ownId}::uuid`
  return sql`(q.is_enabled
    and b.credited_nano_brl - b.debited_nano_brl - b.charged_nano_brl < q.threshold_nano_brl
    and c.suspended_at is null
    and not exists (
      select 1 from top_ups t
      where t.customer_id = q.customer_id and t.is_automatic and t.status = 'pending' and t.id is distinct from ${ownId}::uuid)
    and (select count(*) from top_ups t where ${counted} and t.created_at > now() - interval '1 day') < ${A_DAY_MAX}
    and (q.monthly_limit_nano_brl is null or q.monthly_limit_nano_brl >= q.amount_nano_brl + (
      select coalesce(sum(t.amount_nano_brl), 0) from top_ups t
      where ${counted} and (t.paid_at is not null or t.status = 'pending') and t.created_at >= date_trunc('month', now(), c.timezone))))`
}

interface Due {
  customer_id: string
  amount_nano_brl: NanoBrl
  payment_method_id: string
  remote_ip: string
  /** By `exactTime`. */
  claimed_at: string
}

const DUE: ClaimableRows = {
  table: 'automatic_top_ups',
  key: ['customer_id'],
  join: sql`join accounts b on b.customer_id = q.customer_id join customers c on c.id = q.customer_id`,
  isDue: sql`q.tried_at < now() - make_interval(secs => ${WAIT_SECONDS_MIN} * power(${WAIT_GROWTH}::int4, q.failures_in_row))
    and ${isShort()}`,
  orderBy: sql`q.tried_at`,
  lease: sql`tried_at = now()`,
  columns: sql`q.customer_id, q.amount_nano_brl, q.payment_method_id, q.remote_ip,
    ${exactTime('q.tried_at')} as claimed_at`,
}

async function topUpOne(db: Database, deps: AutomaticDeps, due: Due): Promise<void> {
  const { customer_id: customerId, payment_method_id: id } = due
  const card = await findChosenCard(db, deps, { customerId, id })
  const found = await findPayer(db, customerId)
  // The card or the customer was deleted a moment ago, or belongs to another processor.
  if (!card || found.kind !== 'payer') return
  const outcome = await createTopUp(db, SYSTEM, deps.processor, {
    customerId,
    payer: found.payer,
    amountNanoBrl: due.amount_nano_brl,
    method: 'card',
    card: { ...card, remoteIp: due.remote_ip },
    isAutomatic: true,
    isStillDue: (trx, topUpId) => renewClaim(trx, due, topUpId),
  })
  // The processor refused the payer, so no top-up exists that would count the failure.
  if (outcome.kind === 'refused' && outcome.topUpId === undefined)
    await db.transaction().execute(async (trx) => {
      if (await renewClaim(trx, due, null)) await recordAutomaticFailure(trx, customerId)
    })
}

/**
 * Renews the claim; the next attempt waits from now on. Returns false if another node has claimed the customer since,
 * the setting is not the claimed one, or a charge would no longer be due: this node may have been suspended, and the
 * processor takes its time, while the customer paid by Pix or was suspended.
 */
async function renewClaim(trx: Database, due: Due, topUpId: string | null): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update automatic_top_ups q set tried_at = clock_timestamp()
    from accounts b join customers c on c.id = b.customer_id
    where q.customer_id = ${due.customer_id} and b.customer_id = q.customer_id
      and q.tried_at = ${due.claimed_at}::timestamptz
      and q.amount_nano_brl = ${due.amount_nano_brl} and q.payment_method_id = ${due.payment_method_id}
      and ${isShort(topUpId)}`.execute(trx)
  return numAffectedRows === 1n
}
