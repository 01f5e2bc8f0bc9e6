/**
 * Changes the shield of an account. Every key without a setting of its own gets a new version, so that no node can hold
 * money for a call that it read under the former setting.
 */
import { sql } from 'kysely'
import { audited, type Actor } from '../platform/audit-log/audited.ts'
import type { Database } from '../platform/db/open.ts'
import { isSameShield, type ShieldSetting, findShield } from './shield-setting.ts'
import { lockCustomer } from './customers.ts'
import { findShieldRefusal, type KeyRefusal } from './key-makers.ts'
import { renewKeys } from './renew-keys.ts'

export type ShieldChanged =
  | { readonly kind: 'changed'; readonly setting: ShieldSetting }
  | KeyRefusal

/** A missing field stays unchanged. Calls whose money is held already go on as they were read. */
export function changeShield(
  db: Database,
  actor: Actor,
  { customerId, change }: { readonly customerId: string; readonly change: Partial<ShieldSetting> },
): Promise<ShieldChanged> {
  return audited(db, actor, async (trx, record) => {
    await lockCustomer(trx, customerId)
    const stored = await findShield(trx, customerId)
    const setting = { ...stored, ...change }
    const refusal = await findShieldRefusal(trx, { actor, wanted: setting })
    if (refusal) return refusal
    if (isSameShield(setting, stored)) return { kind: 'changed', setting }
    await trx
      .updateTable('customers')
      .set({ shield_action: setting.action, shield_uuids: setting.uuids })
      .where('id', '=', customerId)
      .execute()
    await renewKeys(trx, customerId, sql`shield_action is null`)
    await record({
      action: 'shield.changed',
      customerId,
      subjectId: customerId,
      details: { ...setting },
    })
    return { kind: 'changed', setting }
  })
}
