/** Credits, debits and balances: the ledger off the hot path. One statement for each change. */
import { sql } from 'kysely'
import type { Database } from '../../platform/db/open.ts'
import { createId } from '../../platform/lib/ids.ts'
import type { NanoBrl } from '../../platform/lib/money.ts'

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
export function credit(db: Database, input: EntryInput): Promise<EntryOutcome> {
  return post(db, 'credit', input, false)
}

/**
 * Takes money out, never more than the free balance, unless the money is lost already and the debt must be recorded
 * (`mayOverdraw`: a charge-back).
 */
export function debit(
  db: Database,
  input: EntryInput,
  { mayOverdraw = false }: { readonly mayOverdraw?: boolean } = {},
): Promise<EntryOutcome> {
  return post(db, 'debit', input, mayOverdraw)
}

/** The reason decides whether paid money or promotional credit moves (`sql/entries.sql`). */
async function post(
  db: Database,
  kind: 'credit' | 'debit',
  { customerId, amountNanoBrl, reason, reference, note }: EntryInput,
  mayOverdraw: boolean,
): Promise<EntryOutcome> {
  const entryId = createId()
  const { rows } = await sql<{ outcome: EntryOutcome['kind'] }>`
    select post_entry(${entryId}, ${customerId}, ${kind}, ${reason}, ${amountNanoBrl}, ${reference}, ${note ?? null},
      ${mayOverdraw}) as outcome`.execute(db)
  const outcome = rows[0]?.outcome ?? 'customer_not_found'
  return outcome === 'posted' ? { kind: outcome, entryId } : { kind: outcome }
}

/**
 * Locks an account until the end of the transaction. It must be the transaction's first lock on a customer, so that
 * transactions cannot deadlock.
 */
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
