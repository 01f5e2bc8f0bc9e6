import type { Database } from '../platform/db/open.ts'
import type { ShieldSetting } from './shield-setting.ts'

/** Returns the shield of an account. Throws if there is no such customer. */
export async function findShield(db: Database, customerId: string): Promise<ShieldSetting> {
  return db
    .selectFrom('customers')
    .select(['shield_action as action', 'shield_uuids as uuids'])
    .where('id', '=', customerId)
    .executeTakeFirstOrThrow()
}
