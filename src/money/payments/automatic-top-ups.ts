/** A customer's settings for charging a saved card when the balance is low; `top-up-automatically.ts` charges it. */
import { sql, type RawBuilder, type Selectable } from 'kysely'
import { audited, type Actor } from '../../platform/audit-log/audited.ts'
import { lockCustomer } from '../../customers/customers.ts'
import type { Database } from '../../platform/db/open.ts'
import type { Tables } from '../../platform/db/tables.ts'
import { recordEvent } from '../../platform/events/record-event.ts'
import { isUuid } from '../../platform/lib/ids.ts'
import { decimalBrl, type NanoBrl } from '../../platform/lib/money.ts'

export interface AutomaticTopUp {
  readonly isEnabled: boolean
  readonly thresholdNanoBrl: NanoBrl
  readonly amountNanoBrl: NanoBrl
  readonly paymentMethodId: string | null
  readonly monthlyLimitNanoBrl: NanoBrl | null
  readonly failuresInRow: number
  /** Why we turned it off; null if we did not. */
  readonly disabledReason: 'card_rejected' | 'payment_method_deleted' | null
  readonly updatedAt: Date
}

export interface AutomaticTopUpInput {
  readonly customerId: string
  readonly isEnabled: boolean
  readonly thresholdNanoBrl: NanoBrl
  readonly amountNanoBrl: NanoBrl
  readonly paymentMethodId: string
  readonly monthlyLimitNanoBrl: NanoBrl | null
  /** The address of the customer's request; the processor receives it with each charge. */
  readonly remoteIp: string
}

/** Consecutive refusals after which the automatic top-up is turned off. */
const FAILURES_MAX = 3

export async function findAutomaticTopUp(
  db: Database,
  customerId: string,
): Promise<AutomaticTopUp | undefined> {
  const row = await db
    .selectFrom('automatic_top_ups')
    .selectAll()
    .where('customer_id', '=', customerId)
    .executeTakeFirst()
  return row && toAutomaticTopUp(row)
}

/** Returns undefined if the customer has no such card. The refusals of a card in a row stay counted. */
export async function saveAutomaticTopUp(
  db: Database,
  actor: Actor,
  input: AutomaticTopUpInput,
): Promise<AutomaticTopUp | undefined> {
  const { customerId } = input
  if (!isUuid(input.paymentMethodId)) return undefined
  return audited(db, actor, async (trx, record) => {
    const saved = await storeAutomaticTopUp(trx, input)
    if (saved)
      await record({ action: 'automatic_topup.changed', customerId, subjectId: customerId })
    return saved
  })
}

async function storeAutomaticTopUp(
  trx: Database,
  input: AutomaticTopUpInput,
): Promise<AutomaticTopUp | undefined> {
  const { customerId, paymentMethodId } = input
  await lockCustomer(trx, customerId)
  const method = await trx
    .selectFrom('payment_methods')
    .select('id')
    .where('customer_id', '=', customerId)
    .where('id', '=', paymentMethodId)
    .executeTakeFirst()
  if (!method) return undefined
  const fields = {
    is_enabled: input.isEnabled,
    threshold_nano_brl: input.thresholdNanoBrl,
    amount_nano_brl: input.amountNanoBrl,
    payment_method_id: paymentMethodId,
    monthly_limit_nano_brl: input.monthlyLimitNanoBrl,
    remote_ip: input.remoteIp,
    disabled_reason: null,
  }
  const row = await trx
    .insertInto('automatic_top_ups')
    .values({
      customer_id: customerId,
      ...fields,
      failures_in_row: refusalsOf(paymentMethodId),
      tried_at: sql<Date>`coalesce((
        select max(created_at) from top_ups where customer_id = ${customerId} and is_automatic), '-infinity')`,
    })
    .onConflict((conflict) =>
      conflict.column('customer_id').doUpdateSet({
        ...fields,
        updated_at: sql<Date>`now()`,
        failures_in_row: sql<number>`case when automatic_top_ups.payment_method_id = ${paymentMethodId}
          then automatic_top_ups.failures_in_row else excluded.failures_in_row end`,
      }),
    )
    .returningAll()
    .executeTakeFirstOrThrow()
  return toAutomaticTopUp(row)
}

/** The automatic charges of this card that failed since its last success, as far as they count. */
function refusalsOf(paymentMethodId: string): RawBuilder<number> {
  return sql<number>`(
    select least(count(*), ${FAILURES_MAX})::int4 from top_ups t
    where t.payment_method_id = ${paymentMethodId} and t.is_automatic and t.status = 'failed' and t.created_at > coalesce((
      select max(p.created_at) from top_ups p
      where p.payment_method_id = ${paymentMethodId} and p.paid_at is not null), '-infinity'))`
}

/** A top-up in flight continues. */
export function deleteAutomaticTopUp(
  db: Database,
  actor: Actor,
  { customerId }: { customerId: string },
): Promise<AutomaticTopUp | undefined> {
  return audited(db, actor, async (trx, record) => {
    const row = await trx
      .deleteFrom('automatic_top_ups')
      .where('customer_id', '=', customerId)
      .returningAll()
      .executeTakeFirst()
    if (!row) return undefined
    await record({ action: 'automatic_topup.deleted', customerId, subjectId: customerId })
    return toAutomaticTopUp(row)
  })
}

/**
 * Counts a failed automatic top-up. Call it in a transaction. The last of `FAILURES_MAX` consecutive failures turns it
 * off and notifies the customer.
 */
export async function recordAutomaticFailure(trx: Database, customerId: string): Promise<void> {
  const { rows } = await sql<SwitchedOff>`
    with failed as (
      update automatic_top_ups set failures_in_row = failures_in_row + 1,
        is_enabled = failures_in_row + 1 < ${FAILURES_MAX},
        disabled_reason = case when failures_in_row + 1 >= ${FAILURES_MAX} then 'card_rejected' end
      where customer_id = ${customerId} and is_enabled
      returning *
    )
    select f.threshold_nano_brl, f.amount_nano_brl, f.failures_in_row, m.last_four
    from failed f left join payment_methods m on m.id = f.payment_method_id
    where not f.is_enabled`.execute(trx)
  const [off] = rows
  if (!off) return
  await recordEvent(trx, {
    customerId,
    type: 'topup.automatic_disabled',
    data: {
      reason: 'card_rejected',
      failures: off.failures_in_row,
      last_four: off.last_four,
      threshold_brl: decimalBrl(off.threshold_nano_brl),
      amount_brl: decimalBrl(off.amount_nano_brl),
    },
  })
}

/** Forgets the failures before a successful automatic top-up. Call it in a transaction. */
export async function recordAutomaticSuccess(trx: Database, customerId: string): Promise<void> {
  await trx
    .updateTable('automatic_top_ups')
    .set({ failures_in_row: 0 })
    .where('customer_id', '=', customerId)
    .where('failures_in_row', '>', 0)
    .execute()
}

interface SwitchedOff {
  threshold_nano_brl: bigint
  amount_nano_brl: bigint
  failures_in_row: number
  last_four: string | null
}

function toAutomaticTopUp(row: Selectable<Tables['automatic_top_ups']>): AutomaticTopUp {
  return {
    isEnabled: row.is_enabled,
    thresholdNanoBrl: row.threshold_nano_brl,
    amountNanoBrl: row.amount_nano_brl,
    paymentMethodId: row.payment_method_id,
    monthlyLimitNanoBrl: row.monthly_limit_nano_brl,
    failuresInRow: row.failures_in_row,
    disabledReason: row.disabled_reason,
    updatedAt: row.updated_at,
  }
}
