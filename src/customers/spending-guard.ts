/**
 * The guard of an account against spending far above the usual pace. No key makes it laxer: neither a stolen key nor a
 * program that runs away may switch it off.
 */
import { audited, type Actor } from '../platform/audit-log/audited.ts'
import type { Database } from '../platform/db/open.ts'
import { decimalBrl, type NanoBrl } from '../platform/lib/money.ts'

export interface SpendingGuard {
  /** How many times the usual pace is too much; null: the guard is off. */
  readonly factor: number | null
  /** Less in an hour is never too much. */
  readonly floorNanoBrl: NanoBrl
}

export const GUARD_FACTOR = { default: 10, min: 2, max: 1_000 } as const
export const GUARD_FLOOR_BRL = { default: 200, min: 1, max: 1_000_000 } as const

/** Returns the spending guard of an account. Throws if there is no such customer. */
export async function findSpendingGuard(db: Database, customerId: string): Promise<SpendingGuard> {
  return db
    .selectFrom('customers')
    .select(['anomaly_factor as factor', 'anomaly_floor_nano_brl as floorNanoBrl'])
    .where('id', '=', customerId)
    .executeTakeFirstOrThrow()
}

/** A missing field stays unchanged. `beyond_own_key`: a key wants a laxer guard. */
export function changeSpendingGuard(
  db: Database,
  actor: Actor,
  { customerId, change }: { readonly customerId: string; readonly change: Partial<SpendingGuard> },
): Promise<SpendingGuard | 'beyond_own_key'> {
  return audited<SpendingGuard | 'beyond_own_key'>(db, actor, async (trx, record) => {
    const stored = await trx
      .selectFrom('customers')
      .select(['anomaly_factor as factor', 'anomaly_floor_nano_brl as floorNanoBrl'])
      .where('id', '=', customerId)
      .forNoKeyUpdate()
      .executeTakeFirstOrThrow()
    const guard = { ...stored, ...change }
    if (guard.factor === stored.factor && guard.floorNanoBrl === stored.floorNanoBrl) return guard
    if (actor.apiKeyId !== undefined && isLaxer(guard, stored)) return 'beyond_own_key'
    await trx
      .updateTable('customers')
      .set({ anomaly_factor: guard.factor, anomaly_floor_nano_brl: guard.floorNanoBrl })
      .where('id', '=', customerId)
      .execute()
    const act = { action: 'spending_guard.changed', customerId, subjectId: customerId } as const
    await record({
      ...act,
      details: { factor: guard.factor, floor_brl: decimalBrl(guard.floorNanoBrl) },
    })
    return guard
  })
}

function isLaxer(guard: SpendingGuard, stored: SpendingGuard): boolean {
  if (guard.floorNanoBrl > stored.floorNanoBrl) return true
  if (stored.factor === null) return false
  return guard.factor === null || guard.factor > stored.factor
}
