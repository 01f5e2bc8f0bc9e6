/**
 * Credits and debits by hand. An adjustment waits for a second operator's approval if its amount is large, or if the
 * adjustments that one operator posted alone, or that one customer received without approval, have a large sum in 24
 * hours. No operator adjusts their own account. An adjustment is posted once, in the transaction that records the
 * decision, however many operators decide at once.
 */
import { sql, type Selectable } from 'kysely'
import { audited, type Actor, type RecordAct } from '../../platform/audit-log/audited.ts'
import { isOwnAccount } from '../../platform/audit-log/is-own-account.ts'
import { exactTime, isBefore } from '../../platform/db/exact-time.ts'
import type { Database } from '../../platform/db/open.ts'
import type { Tables } from '../../platform/db/tables.ts'
import { createId, isUuid } from '../../platform/lib/ids.ts'
import { decimalBrl, type NanoBrl } from '../../platform/lib/money.ts'
import { credit, debit, lockAccount, type EntryOutcome } from './entries.ts'
import { grantPromotion } from './promotions.ts'

export const ADJUSTMENT_KINDS = ['credit', 'debit', 'promotional_credit'] as const
export type AdjustmentKind = (typeof ADJUSTMENT_KINDS)[number]
export const ADJUSTMENT_STATUSES = ['pending', 'posted', 'rejected'] as const
export type AdjustmentStatus = (typeof ADJUSTMENT_STATUSES)[number]

export interface AdjustmentInput {
  readonly customerId: string
  readonly kind: AdjustmentKind
  readonly amountNanoBrl: NanoBrl
  readonly reason: string
  /** Chosen by the operator; the idempotency key. */
  readonly reference: string
}

export interface Adjustment extends AdjustmentInput {
  readonly id: string
  readonly status: AdjustmentStatus
  readonly requestedBy: string
  readonly decidedBy: string | null
  readonly createdAt: Date
  readonly decidedAt: Date | null
}

export type AdjustmentOutcome =
  | { readonly kind: 'requested' | 'repeated'; readonly adjustment: Adjustment }
  | { readonly kind: 'customer_not_found' }
  | { readonly kind: 'own_account' }
  /** An adjustment with other terms has this reference. */
  | { readonly kind: 'reference_taken' }
  | { readonly kind: 'short_balance' }

interface AdjustmentTerms {
  /** The operator, who is a customer too. */
  readonly requestedBy: string
  /** More than this without approval, in one adjustment or in the sum of 24 hours, waits for a second operator. */
  readonly approvalAboveNanoBrl: NanoBrl
}

/**
 * Requests an adjustment. It must not run inside a transaction of the caller, because an adjustment that cannot be
 * posted is rolled back.
 */
export function requestAdjustment(
  db: Database,
  actor: Actor,
  input: AdjustmentInput & AdjustmentTerms,
): Promise<AdjustmentOutcome> {
  return audited(db, actor, async (trx, record, undo) => {
    const outcome = await insertAdjustment(trx, input)
    if (outcome.kind === 'short_balance') return undo(outcome)
    if (outcome.kind !== 'requested') return outcome
    const { adjustment } = outcome
    await recordAct(record, adjustment.status === 'posted' ? 'posted' : 'requested', adjustment)
    return outcome
  })
}

async function insertAdjustment(
  trx: Database,
  input: AdjustmentInput & AdjustmentTerms,
): Promise<AdjustmentOutcome> {
  const { customerId, requestedBy, approvalAboveNanoBrl } = input
  if (!(await lockOpenAccount(trx, customerId))) return { kind: 'customer_not_found' }
  if (await isOwnAccount(trx, { operatorId: requestedBy, customerId }))
    return { kind: 'own_account' }
  const isPosted = input.amountNanoBrl + (await readUnapproved(trx, input)) <= approvalAboveNanoBrl
  const row = await trx
    .insertInto('adjustments')
    .values({
      id: createId(),
      customer_id: customerId,
      kind: input.kind,
      amount_nano_brl: input.amountNanoBrl,
      reason: input.reason,
      reference: input.reference,
      status: isPosted ? 'posted' : 'pending',
      requested_by: requestedBy,
      decided_by: null,
      decided_at: isPosted ? sql<Date>`now()` : null,
    })
    .onConflict((conflict) => conflict.column('reference').doNothing())
    .returningAll()
    .executeTakeFirst()
  if (!row) return repeated(trx, input)
  const adjustment = toAdjustment(row)
  if (isPosted && !(await post(trx, adjustment))) return { kind: 'short_balance' }
  return { kind: 'requested', adjustment }
}

/**
 * What this operator posted, or this customer got, without approval within 24 hours: the larger of the two sums. Credits
 * and debits are summed separately, so that one cannot hide the other. The account is locked, and the operator is by
 * this: no other adjustment of either is posted meanwhile.
 */
async function readUnapproved(
  trx: Database,
  { customerId, requestedBy, kind }: AdjustmentInput & AdjustmentTerms,
): Promise<NanoBrl> {
  await sql`
    select pg_advisory_xact_lock(hashtextextended(${`adjustments by ${requestedBy}`}, 0))`.execute(
    trx,
  )
  const { rows } = await sql<{ sum: bigint }>`
    select greatest(
      coalesce(sum(amount_nano_brl) filter (where requested_by = ${requestedBy}), 0),
      coalesce(sum(amount_nano_brl) filter (where customer_id = ${customerId}), 0))::int8 as sum
    from adjustments
    where (requested_by = ${requestedBy} or customer_id = ${customerId})
      and (kind = 'debit') = ${kind === 'debit'}
      and status = 'posted' and decided_by is null and created_at > now() - interval '24 hours'`.execute(
    trx,
  )
  return rows[0]?.sum ?? 0n
}

async function repeated(trx: Database, input: AdjustmentInput): Promise<AdjustmentOutcome> {
  const row = await trx
    .selectFrom('adjustments')
    .selectAll()
    .where('reference', '=', input.reference)
    .executeTakeFirstOrThrow()
  const adjustment = toAdjustment(row)
  const fields = ['customerId', 'kind', 'amountNanoBrl', 'reason'] as const
  return fields.every((field) => adjustment[field] === input[field])
    ? { kind: 'repeated', adjustment }
    : { kind: 'reference_taken' }
}

export type DecisionOutcome =
  | { readonly kind: 'decided'; readonly adjustment: Adjustment }
  | { readonly kind: 'adjustment_not_found' }
  | { readonly kind: 'adjustment_decided' }
  /** The requester tried to approve it. */
  | { readonly kind: 'second_admin_required' }
  | { readonly kind: 'own_account' }
  | { readonly kind: 'customer_deleted' }
  /** The free balance does not cover it; it still waits. */
  | { readonly kind: 'short_balance' }

export interface Decision {
  readonly id: string
  readonly decidedBy: string
}

/**
 * Approves the adjustment, by an operator other than the requester. It must not run inside a transaction of the caller:
 * an adjustment that cannot be posted is rolled back and still waits.
 */
export function approveAdjustment(
  db: Database,
  actor: Actor,
  { id, decidedBy }: Decision,
): Promise<DecisionOutcome> {
  return audited(db, actor, async (trx, record, undo) => {
    const found = await lockAdjustment(trx, id)
    if ('outcome' in found) return found.outcome
    const { adjustment, isOpen } = found
    if (adjustment.requestedBy === decidedBy) return { kind: 'second_admin_required' }
    const { customerId } = adjustment
    if (await isOwnAccount(trx, { operatorId: decidedBy, customerId }))
      return { kind: 'own_account' }
    if (!isOpen) return { kind: 'customer_deleted' }
    if (!(await post(trx, adjustment))) return undo({ kind: 'short_balance' })
    const approved = await decide(trx, id, 'posted', decidedBy)
    await recordAct(record, 'approved', approved)
    return { kind: 'decided', adjustment: approved }
  })
}

/** Rejects it; the requester may do so too. */
export function rejectAdjustment(
  db: Database,
  actor: Actor,
  { id, decidedBy }: Decision,
): Promise<DecisionOutcome> {
  return audited(db, actor, async (trx, record) => {
    const found = await lockAdjustment(trx, id)
    if ('outcome' in found) return found.outcome
    const adjustment = await decide(trx, id, 'rejected', decidedBy)
    await recordAct(record, 'rejected', adjustment)
    return { kind: 'decided', adjustment }
  })
}

function recordAct(
  record: RecordAct,
  act: 'requested' | 'posted' | 'approved' | 'rejected',
  { id, customerId, kind, amountNanoBrl, reference }: Adjustment,
): Promise<void> {
  return record({
    action: `adjustment.${act}`,
    customerId,
    subjectId: id,
    details: { kind, amount_brl: decimalBrl(amountNanoBrl), reference },
  })
}

/** Returns adjustments, the newest first. */
export async function listAdjustments(
  db: Database,
  page: {
    readonly status: AdjustmentStatus | undefined
    readonly customerId: string | undefined
    readonly after: { readonly at: string; readonly id: string } | undefined
    readonly limit: number
  },
): Promise<(Adjustment & { readonly exactCreatedAt: string })[]> {
  const { status, customerId, after, limit } = page
  let query = db
    .selectFrom('adjustments')
    .selectAll()
    .select(exactTime('created_at').as('exact_created_at'))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
  if (status) query = query.where('status', '=', status)
  if (customerId) query = query.where('customer_id', '=', customerId)
  if (after) query = query.where(isBefore(after))
  const rows = await query.execute()
  return rows.map((row) => ({ ...toAdjustment(row), exactCreatedAt: row.exact_created_at }))
}

/** Posts the adjustment. Returns false if the balance does not cover it. */
async function post(trx: Database, adjustment: Adjustment): Promise<boolean> {
  const { id, customerId, amountNanoBrl, kind, reason: note } = adjustment
  const entry = { customerId, amountNanoBrl, reference: id, note }
  let outcome: EntryOutcome
  if (kind === 'promotional_credit')
    outcome = await grantPromotion(trx, { ...entry, reason: 'promotion' })
  else if (kind === 'credit') outcome = await credit(trx, { ...entry, reason: 'adjustment' })
  else outcome = await debit(trx, { ...entry, reason: 'adjustment' })
  if (outcome.kind === 'short_balance') return false
  if (outcome.kind !== 'posted') throw new Error(`adjustment ${id} is not posted: ${outcome.kind}`)
  return true
}

/** Locks the account, which is always the first lock. False without an account, and for a deleted customer. */
async function lockOpenAccount(trx: Database, customerId: string): Promise<boolean> {
  await lockAccount(trx, customerId)
  const { rows } = await sql`
    select 1 from customers where id = ${customerId} and deleted_at is null for key share`.execute(
    trx,
  )
  return rows.length > 0
}

async function lockAdjustment(
  trx: Database,
  id: string,
): Promise<{ adjustment: Adjustment; isOpen: boolean } | { outcome: DecisionOutcome }> {
  const read = () => trx.selectFrom('adjustments').selectAll().where('id', '=', id)
  const customerId = isUuid(id) ? (await read().executeTakeFirst())?.customer_id : undefined
  if (customerId === undefined) return { outcome: { kind: 'adjustment_not_found' } }
  const isOpen = await lockOpenAccount(trx, customerId)
  const row = await read().forUpdate().executeTakeFirstOrThrow()
  return row.status === 'pending'
    ? { adjustment: toAdjustment(row), isOpen }
    : { outcome: { kind: 'adjustment_decided' } }
}

async function decide(
  trx: Database,
  id: string,
  status: 'posted' | 'rejected',
  decidedBy: string,
): Promise<Adjustment> {
  const row = await trx
    .updateTable('adjustments')
    .set({ status, decided_by: decidedBy, decided_at: sql<Date>`now()` })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
  return toAdjustment(row)
}

function toAdjustment(row: Selectable<Tables['adjustments']>): Adjustment {
  return {
    id: row.id,
    customerId: row.customer_id,
    kind: row.kind,
    amountNanoBrl: row.amount_nano_brl,
    reason: row.reason,
    reference: row.reference,
    status: row.status,
    requestedBy: row.requested_by,
    decidedBy: row.decided_by,
    createdAt: row.created_at,
    decidedAt: row.decided_at,
  }
}
