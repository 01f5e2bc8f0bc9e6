/** Credits, debits and balances: the ledger off the hot path. One statement for each change. */
import { sql } from 'kysely'
import { inTransaction, type Database } from '../db/open.ts'
import { createId } from '../lib/ids.ts'
import type { NanoBrl } from '../lib/money.ts'

export interface EntryInput {
  readonly customerId: string
  readonly amountNanoBrl: NanoBrl
  /** The reason in snake_case: `top_up`, `adjustment`, `sandbox`. */
  readonly reason: string
  /** Together with the reason, the idempotency key: a repeat changes nothing. */
  readonly reference: string
  readonly note?: string | undefined
}

export type EntryOutcome =
  | { kind: 'posted'; entryId: string }
  | { kind: 'exists' }
  | { kind: 'customer_not_found' }
  | { kind: 'short_balance' }

/** Puts money in. */
export async function credit(db: Database, input: EntryInput): Promise<EntryOutcome> {
  const entryId = createId()
  const { rows } = await sql<{ id: string }>`
    with account as (
      select customer_id from accounts where customer_id = ${input.customerId} for no key update
    ), entry as (
      insert into ledger_entries (id, customer_id, kind, reason, amount_nano_brl, reference, note)
      select ${entryId}, customer_id, 'credit', ${input.reason}, ${input.amountNanoBrl}, ${input.reference}, ${input.note ?? null}
      from account
      on conflict (reason, reference) do nothing
      returning customer_id, amount_nano_brl
    )
    update accounts a set credited_nano_brl = a.credited_nano_brl + e.amount_nano_brl
    from entry e where a.customer_id = e.customer_id
    returning a.customer_id as id`.execute(db)
  if (rows.length > 0) return { kind: 'posted', entryId }
  return (await entryExists(db, input)) ? { kind: 'exists' } : { kind: 'customer_not_found' }
}

/**
 * Takes money out, never more than the free balance, unless the money is lost already and the debt must be recorded
 * (`mayOverdraw`: a charge-back).
 */
export async function debit(
  db: Database,
  input: EntryInput,
  { mayOverdraw = false }: { readonly mayOverdraw?: boolean } = {},
): Promise<EntryOutcome> {
  const entryId = createId()
  return inTransaction(db, async (trx) => {
    const { rows } = await sql<{ free: bigint }>`
      select credited_nano_brl - debited_nano_brl - charged_nano_brl - held_nano_brl as free
      from accounts where customer_id = ${input.customerId} for no key update`.execute(trx)
    const account = rows[0]
    if (!account) return { kind: 'customer_not_found' }
    if (await entryExists(trx, input)) return { kind: 'exists' }
    if (!mayOverdraw && account.free < input.amountNanoBrl) return { kind: 'short_balance' }
    await trx
      .insertInto('ledger_entries')
      .values({
        id: entryId,
        customer_id: input.customerId,
        kind: 'debit',
        reason: input.reason,
        amount_nano_brl: input.amountNanoBrl,
        reference: input.reference,
        note: input.note ?? null,
      })
      .execute()
    await sql`update accounts set debited_nano_brl = debited_nano_brl + ${input.amountNanoBrl}
      where customer_id = ${input.customerId}`.execute(trx)
    return { kind: 'posted', entryId }
  })
}

/** Must be a transaction's first lock on a customer, so that transactions cannot deadlock. */
export async function lockAccount(trx: Database, customerId: string): Promise<void> {
  await sql`
    select 1 from accounts where customer_id = ${customerId} for no key update`.execute(trx)
}

export interface Account {
  readonly creditedNanoBrl: NanoBrl
  readonly debitedNanoBrl: NanoBrl
  readonly chargedNanoBrl: NanoBrl
  readonly heldNanoBrl: NanoBrl
  /** Credits less debits less charges. */
  readonly balanceNanoBrl: NanoBrl
}

export async function findAccount(db: Database, customerId: string): Promise<Account | undefined> {
  const row = await db
    .selectFrom('accounts')
    .selectAll()
    .where('customer_id', '=', customerId)
    .executeTakeFirst()
  return (
    row && {
      creditedNanoBrl: row.credited_nano_brl,
      debitedNanoBrl: row.debited_nano_brl,
      chargedNanoBrl: row.charged_nano_brl,
      heldNanoBrl: row.held_nano_brl,
      balanceNanoBrl: row.credited_nano_brl - row.debited_nano_brl - row.charged_nano_brl,
    }
  )
}

async function entryExists(db: Database, input: EntryInput): Promise<boolean> {
  const row = await db
    .selectFrom('ledger_entries')
    .select('id')
    .where('reason', '=', input.reason)
    .where('reference', '=', input.reference)
    .executeTakeFirst()
  return row !== undefined
}
