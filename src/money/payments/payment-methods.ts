/** Saved cards. The processor keeps the card; we store its sealed token and the details by which the holder recognizes it. */
import { sql } from 'kysely'
import { audited, type Actor } from '../../platform/audit-log/audited.ts'
import type { Database } from '../../platform/db/open.ts'
import { lockCustomer } from '../../customers/customers.ts'
import { createId, isUuid } from '../../platform/lib/ids.ts'
import { seal, unseal } from '../../platform/lib/seal.ts'
import type { Processor } from './processor.ts'

export interface PaymentMethod {
  readonly id: string
  readonly brand: string | null
  readonly lastFour: string
  readonly holderName: string
  readonly expiryMonth: number
  readonly expiryYear: number
  readonly createdAt: Date
}

/** The saved card that a top-up charges. */
export interface ChosenCard {
  readonly paymentMethodId: string
  readonly token: string
  readonly brand: string | null
  readonly lastFour: string
}

/**
 * The keys that seal the tokens of cards. New tokens are sealed with `sealingKey`; the previous key opens tokens that
 * were sealed before the key changed.
 */
export interface CardKeys {
  readonly sealingKey: Buffer
  readonly previousSealingKey?: Buffer | undefined
}

/** The most payment methods that one customer may have. */
export const PAYMENT_METHODS_MAX = 10

export interface NewPaymentMethod extends Omit<PaymentMethod, 'id' | 'createdAt'> {
  /** Undefined: a new one. */
  readonly id?: string
  readonly customerId: string
  readonly processorId: string
  readonly token: string
}

/** Returns undefined if the customer has `PAYMENT_METHODS_MAX` cards. */
export function addPaymentMethod(
  db: Database,
  actor: Actor,
  sealingKey: Buffer,
  input: NewPaymentMethod,
): Promise<PaymentMethod | undefined> {
  return audited(db, actor, async (trx, record) => {
    const method = await insertPaymentMethod(trx, sealingKey, input)
    const { customerId } = input
    if (method) await record({ action: 'payment_method.added', customerId, subjectId: method.id })
    return method
  })
}

async function insertPaymentMethod(
  trx: Database,
  sealingKey: Buffer,
  input: NewPaymentMethod,
): Promise<PaymentMethod | undefined> {
  await lockCustomer(trx, input.customerId)
  if (await hasMostPaymentMethods(trx, input.customerId)) return undefined
  const { id = createId() } = input
  const row = await trx
    .insertInto('payment_methods')
    .values({
      id,
      customer_id: input.customerId,
      processor: input.processorId,
      token_sealed: seal(sealingKey, id, Buffer.from(input.token)),
      brand: input.brand,
      last_four: input.lastFour,
      holder_name: input.holderName,
      expiry_month: input.expiryMonth,
      expiry_year: input.expiryYear,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  return toPaymentMethod(row)
}

export async function hasMostPaymentMethods(db: Database, customerId: string): Promise<boolean> {
  const { count } = await db
    .selectFrom('payment_methods')
    .select(({ fn }) => fn.countAll<bigint>().as('count'))
    .where('customer_id', '=', customerId)
    .executeTakeFirstOrThrow()
  return Number(count) >= PAYMENT_METHODS_MAX
}

export async function findPaymentMethod(
  db: Database,
  { customerId, id }: { customerId: string; id: string },
): Promise<PaymentMethod | undefined> {
  const row = await db
    .selectFrom('payment_methods')
    .selectAll()
    .where('customer_id', '=', customerId)
    .where('id', '=', id)
    .executeTakeFirst()
  return row && toPaymentMethod(row)
}

/** Returns the customer's payment methods, the oldest first. */
export async function listPaymentMethods(
  db: Database,
  customerId: string,
): Promise<PaymentMethod[]> {
  const rows = await db
    .selectFrom('payment_methods')
    .selectAll()
    .where('customer_id', '=', customerId)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
  return rows.map(toPaymentMethod)
}

/**
 * Returns undefined if the customer has no such card at this processor. Throws a `SealError` if neither key opens the
 * token.
 */
export async function findChosenCard(
  db: Database,
  { processor, keys }: { processor: Processor; keys: CardKeys },
  { customerId, id }: { customerId: string; id: string },
): Promise<ChosenCard | undefined> {
  if (!isUuid(id)) return undefined
  const row = await db
    .selectFrom('payment_methods')
    .select(['id', 'brand', 'last_four', 'token_sealed'])
    .where('customer_id', '=', customerId)
    .where('id', '=', id)
    .where('processor', '=', processor.id)
    .executeTakeFirst()
  return (
    row && {
      paymentMethodId: row.id,
      token: unseal(keys.sealingKey, row.id, row.token_sealed, keys.previousSealingKey).toString(
        'utf8',
      ),
      brand: row.brand,
      lastFour: row.last_four,
    }
  )
}

/** Deletes a payment method. Past top-ups keep the card's details; an automatic top-up with this card is turned off. */
export async function deletePaymentMethod(
  db: Database,
  actor: Actor,
  { customerId, id }: { customerId: string; id: string },
): Promise<PaymentMethod | undefined> {
  if (!isUuid(id)) return undefined
  return audited(db, actor, async (trx, record) => {
    const method = await removePaymentMethod(trx, customerId, id)
    if (method) await record({ action: 'payment_method.deleted', customerId, subjectId: method.id })
    return method
  })
}

async function removePaymentMethod(
  trx: Database,
  customerId: string,
  id: string,
): Promise<PaymentMethod | undefined> {
  await lockCustomer(trx, customerId)
  await sql`
    update automatic_top_ups
    set is_enabled = false, disabled_reason = 'payment_method_deleted', updated_at = now()
    where customer_id = ${customerId} and payment_method_id = ${id}`.execute(trx)
  const row = await trx
    .deleteFrom('payment_methods')
    .where('customer_id', '=', customerId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()
  return row && toPaymentMethod(row)
}

function toPaymentMethod(row: {
  id: string
  brand: string | null
  last_four: string
  holder_name: string
  expiry_month: number
  expiry_year: number
  created_at: Date
}): PaymentMethod {
  return {
    id: row.id,
    brand: row.brand,
    lastFour: row.last_four,
    holderName: row.holder_name,
    expiryMonth: row.expiry_month,
    expiryYear: row.expiry_year,
    createdAt: row.created_at,
  }
}
